"""Runs: ranked lists of a system or of a file, kept with their scores."""
