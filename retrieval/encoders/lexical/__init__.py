"""Encoders that count terms."""
