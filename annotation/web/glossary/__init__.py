"""The page of the words that pages use, each with its meaning."""
