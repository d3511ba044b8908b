"""A build, its cases, calls and batches, and all that is counted of them."""
