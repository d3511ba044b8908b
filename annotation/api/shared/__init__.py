"""What several parts of the API need."""
