"""Verified distractors: matches with a planted bug that their own test notices, as a benchmark of its own.

From the top of `publication`, which makes the benchmark, to `proof`, which runs the tests.
"""
