"""The files of the field, a module for each format."""
