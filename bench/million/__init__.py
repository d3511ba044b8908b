"""As many functions and queries as one machine is asked for: imported, mined, reviewed and exported."""
