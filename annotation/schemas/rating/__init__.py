"""What the API takes and says of a rater's own part of a study."""
