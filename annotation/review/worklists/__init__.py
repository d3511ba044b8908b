"""The list of a build's pairs: filters, orders, ways through it, changes of many rows."""
