"""The shell has the usual tools, and python.

Right: passed
"""

# candidate
import subprocess


def lines(command):
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout.split()


# program
assert lines("printf 'b\\na\\n' | sort | tr a-z A-Z | tail -n 1") == ["B"]
assert lines('python -c "print(6 * 7)"') == ["42"]
