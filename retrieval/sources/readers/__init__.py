"""Reading files of any length in constant memory, where a bad record is told."""
