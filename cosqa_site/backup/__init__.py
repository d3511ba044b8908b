"""A backup of a home as it is, secrets and all: for the same kind of database, this release or a newer one.

`cosqa admin backup` writes one, also while others work, and `cosqa admin restore` puts it into a new home.
"""
