"""Run cases of a build again from a stage on, as another build: what comes before is taken over.

`ordering` says which cases can begin where, what they will cost, and launches; `taking` makes the cases, with
the steps behind them as the other build made them.
"""
