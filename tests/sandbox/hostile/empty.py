"""Tries: do nothing at all.

Must: never count as passed: no assertion was evaluated.
Outcome: untested
Stopped by: recorded verdict
Report: untouched
Evidence: none
"""
