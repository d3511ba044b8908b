"""Run cases of a build again from a stage on, as another build: what comes before is taken over.

`launch` says which cases can begin where, what they will cost, and launches; `case_takeover` makes the cases,
with the steps behind them as the other build made them.
"""
