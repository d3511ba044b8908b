"""Tries: plant a module among the installed packages, for every later program to import.

Must: be refused: packages are read-only.
Outcome: passed
Stopped by: read-only packages
"""

import os

assert answer() == 42
print("attack: plant a module", flush=True)
for folder in ("/packages", "/layers"):
    try:
        with open(f"{folder}/hostile.pth", "w") as file:
            file.write("import os")
        os.unlink(f"{folder}/hostile.pth")
        print("ESCAPE: planted in", folder)
    except OSError as refused:
        print("refused:", refused)
