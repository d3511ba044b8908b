"""Files of the web: fetched, resumed and checked, from public addresses alone."""
