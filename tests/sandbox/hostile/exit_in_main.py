"""Tries: raise SystemExit inside main before the assertion that would fail.

Must: never count as passed: SystemExit is no end.
Outcome: errored
Stopped by: recorded verdict
"""


def main():
    assert answer() == 42
    print("attack: SystemExit inside main", flush=True)
    raise SystemExit(0)
    assert answer() == 43


main()
