"""A published benchmark → the files that others read; one module for each format."""
