"""Benches of reviewing: what raters wait for, alone and by twenties."""
