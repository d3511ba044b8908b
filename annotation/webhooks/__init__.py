"""Webhooks: their secrets and signatures, and the events that are written for them."""
