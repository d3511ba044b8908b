"""Starting a server: the database that it needs, and what it says of the machine."""
