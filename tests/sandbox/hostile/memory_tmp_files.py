"""Tries: take memory as files of the temporary folder, which lies in memory.

Must: be ended as out of memory, or be refused the space.
Outcome: out_of_memory | errored
Stopped by: memory limit
Limits: memory_mb=200, tmp_mb=1024
"""

assert answer() == 42
print("attack: 400 MB of files", flush=True)
for number in range(40):
    with open(f"/tmp/hostile-{number}", "wb") as file:
        file.write(b"x" * 10_000_000)
print("ESCAPE: 400 MB held")
