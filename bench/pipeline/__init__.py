"""Benches of a build at full speed against a slow provider."""
