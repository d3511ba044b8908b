"""Encoders that turn a text into a vector: transformers, and servers that have them."""
