"""Tries: write one big file.

Must: be stopped at the limit of a file.
Outcome: errored
Stopped by: file size limit
"""

assert answer() == 42
print("attack: 20 MB in one file", flush=True)
with open("/tmp/hostile", "wb") as file:
    for _ in range(20):
        file.write(b"x" * 1_000_000)
    file.flush()
    print("ESCAPE: 20 MB in one file")
