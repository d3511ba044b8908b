"""What one person runs for a pair: own tests, calls, the strength of a test."""
