"""Benches of the sandbox against what protects nothing, and against a fresh container a program."""
