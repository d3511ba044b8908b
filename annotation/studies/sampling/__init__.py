"""Samples of pairs: what is wished, the frame that it is drawn from, the draw, and planted pairs."""
