"""Django's backend of SQLite, in which the writers of one process take turns."""
