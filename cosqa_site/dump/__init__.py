"""Everything that a home knows, as a folder of plain files: for another home, database or release.

`manage.py export everything` writes such a dump, and `manage.py import everything` reads it.
Rows keep their keys.
"""
