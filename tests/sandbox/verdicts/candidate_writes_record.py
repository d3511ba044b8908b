"""Nor may it write into what is open.

Right: not passed, or suspicious
"""

# candidate
import os


def answer():
    for number in range(3, 256):
        try:
            os.write(number, b'["end"]\n')
        except OSError:
            pass
    return 42


# program
assert answer() == 42
