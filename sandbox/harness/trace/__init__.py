"""How the candidate ran, and its values as text, without a word of the candidate about them."""
