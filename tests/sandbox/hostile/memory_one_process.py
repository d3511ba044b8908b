"""Tries: take all memory in one process.

Must: be ended as out of memory, with the machine unharmed.
Outcome: out_of_memory
Stopped by: memory limit
Limits: memory_mb=200
"""

assert answer() == 42
print("attack: 600 MB", flush=True)
held = [bytearray(b"x") * 10_000_000 for _ in range(60)]
print("ESCAPE: 600 MB held")
