"""Benches of mining: exact search, encoding and extraction, each beside a rival."""
