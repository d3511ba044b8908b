"""What the API takes and says of the whole project: jobs, money, people, connections, webhooks."""
