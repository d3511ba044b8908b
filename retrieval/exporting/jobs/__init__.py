"""Exports that are ordered on a page: the order, its work, and when its file goes."""
