"""Runs programs that nobody has read: contained, traced, and told as they happened. A plain library."""
