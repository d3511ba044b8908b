"""Tries: fill the temporary folder with files that are each small enough.

Must: run into the folder's end.
Outcome: errored
Stopped by: temporary space limit
"""

assert answer() == 42
print("attack: 90 MB of files", flush=True)
for number in range(9):
    with open(f"/tmp/hostile-{number}", "wb") as file:
        file.write(b"x" * 10_000_000)
print("ESCAPE: 90 MB of files")
