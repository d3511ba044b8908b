"""A scratch database as a finished build leaves it, for benches and pages."""
