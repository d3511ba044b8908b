"""What the API takes and says of builds: launch, control, cases, queries, replies."""
