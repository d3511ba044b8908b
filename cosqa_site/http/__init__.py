"""What stands between a server and the views: limits, headers, repeated requests, logs."""
