"""Everything that a home knows, as a folder of plain files: for another home, database or release.

`manage.py export everything` writes such a dump. Rows keep their keys.
"""
