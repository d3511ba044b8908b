"""Tries: have the kernel kill others first when memory ends: the harness.

Must: be ended as out of memory all the same.
Outcome: out_of_memory
Stopped by: memory limit
Limits: memory_mb=200
"""

assert answer() == 42
print("attack: oom_score_adj", flush=True)
try:
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    print("it is the last to be killed", flush=True)
except OSError as refused:
    print("refused:", refused, flush=True)
held = [bytearray(b"x") * 10_000_000 for _ in range(60)]
print("ESCAPE: 600 MB held")
