"""The home of experts and raters: what waits for them."""
