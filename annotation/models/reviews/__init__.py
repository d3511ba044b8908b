"""What experts said and typed, and what follows from it for cases and equal snippets."""
