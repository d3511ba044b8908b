"""The bench of label quality: what annotators say, held against a truth."""
