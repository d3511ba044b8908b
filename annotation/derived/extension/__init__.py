"""Extend a build: more queries, more candidates a query, more snippets; only new pairs are paid for.

`reach` says how far a build reaches and how many pairs are new; `extension_plan` what a wish comes to, its
price and the decision; `chances` what earlier pairs tell of the next; `execution` makes the cases once they
are mined, and takes an extension back.
"""
