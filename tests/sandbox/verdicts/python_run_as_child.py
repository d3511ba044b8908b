"""A child Python changes no library.

Right: passed
"""

# candidate
import subprocess, sys


def run(code):
    return subprocess.check_output([sys.executable, "-c", code], text=True)


# program
assert run("print(1)") == "1\n"
