"""Tries: take memory as files of /dev/shm.

Must: be ended as out of memory, or be refused the space.
Outcome: out_of_memory | errored
Stopped by: memory limit
Limits: memory_mb=200, tmp_mb=1024
"""

assert answer() == 42
print("attack: 400 MB in /dev/shm", flush=True)
for number in range(40):
    with open(f"/dev/shm/hostile-{number}", "wb") as file:
        file.write(b"x" * 10_000_000)
print("ESCAPE: 400 MB held")
