"""Agreement, accuracy and what rests on them, with intervals that resample queries. Pure: no I/O.

`page` makes all figures of a study's page; `influence` and `pairwise` those that need other rows.
docs/statistics.md explains each figure.
"""
