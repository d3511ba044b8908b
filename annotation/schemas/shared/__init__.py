"""What several schemas need."""
