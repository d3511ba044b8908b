"""What the API takes and says of reviews, comments, lists of pairs, audits, label quality."""
