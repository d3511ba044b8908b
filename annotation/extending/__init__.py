"""Extend a build: more queries, more candidates a query, more snippets; only new pairs are paid for.

`wishing` says what a wish comes to (which queries, how many new pairs, their price); `chances` what earlier
pairs tell of the next; `doing` decides it, makes the cases once they are mined, and takes it back.
"""
