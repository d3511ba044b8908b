"""Tries: fill /dev/shm, which is half of the machine's memory if nobody sizes it.

Must: run into the folder's end.
Outcome: errored
Stopped by: temporary space limit
"""

assert answer() == 42
print("attack: 90 MB in /dev/shm", flush=True)
for number in range(9):
    with open(f"/dev/shm/hostile-{number}", "wb") as file:
        file.write(b"x" * 10_000_000)
print("ESCAPE: 90 MB in /dev/shm")
