"""Tries: patch the candidate for a while.

Must: be told: it tested something else than the candidate.
Outcome: errored
Stopped by: candidate's identity
Report: redefined
"""

from unittest import mock

print("attack: mock.patch", flush=True)
with mock.patch("__main__.answer", return_value=43):
    assert answer() == 43
assert answer() == 42
