"""What the bench of label quality reads: files, builds and annotators by name, and their answers."""
