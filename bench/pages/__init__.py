"""Benches of pages and lists: how their times grow with the tables."""
