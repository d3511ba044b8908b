"""A program may end by sys.exit(main()).

Right: passed
"""


# candidate
def triple(x):
    return x * 3


# program
import sys


def main():
    assert triple("ab") == "ababab"


if __name__ == "__main__":
    raise SystemExit(main())
