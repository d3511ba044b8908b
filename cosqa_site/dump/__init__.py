"""Everything that a home knows, as a folder of plain files: for another home, database or release.

`cosqa export everything` writes such a dump, and `cosqa import everything` reads it.
Rows keep their keys.
"""
