"""A Python that the candidate starts finds the packages.

Right: passed
"""

# candidate
import subprocess
import sys


def version(name):
    return subprocess.run(
        [sys.executable, "-c", f"import {name}; print({name}.__version__)"], capture_output=True, text=True
    ).stdout


# program
assert version("yaml").strip()
assert version("numpy").count(".") == 2
