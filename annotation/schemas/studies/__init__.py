"""What the API takes and says of studies, their guidelines and decisions."""
