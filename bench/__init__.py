"""Benches: speed as ratios against a limit measured beside it, and label quality against a truth."""
