"""Systems that start from random weights."""
