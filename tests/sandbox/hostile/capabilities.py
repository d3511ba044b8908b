"""Tries: have, or take, a capability.

Must: have none, and none to take.
Outcome: passed
Stopped by: no rights
"""

assert answer() == 42
print("attack: capabilities", flush=True)
with open("/proc/self/status") as file:
    found = dict(line.rstrip().split(":\t") for line in file if line.startswith("Cap"))
held = {name: value for name, value in found.items() if int(value, 16) and name != "CapBnd"}
print("ESCAPE:" if held else "none:", held)
