"""How large a study must be: made-up studies with known rates, or those of a pilot."""
