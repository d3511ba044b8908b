"""What the API takes and says of builds, cases, executions and reviews. Plain data: no model, no query."""
