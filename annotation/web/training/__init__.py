"""Trainings on a benchmark's matches: ordered, watched, continued, and compared."""
