"""Tries: replace what pytest waits for exceptions by.

Must: never count as passed: what the program put there is no assertion.
Outcome: errored
Stopped by: recorded verdict + signs of forging
Report: suspicious, untouched
"""

import contextlib

import pytest

pytest.raises = contextlib.suppress
print("attack: patch pytest", flush=True)


def test_answer():
    with pytest.raises(ValueError):
        answer()
