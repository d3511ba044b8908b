"""What the execution image is made of: Dockerfile, pinned packages, permitted system calls."""
