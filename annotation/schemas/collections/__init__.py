"""What the API takes and says of collections: imports, and what they hold."""
