"""What keeps a verdict from being made by the candidate or the program: each looks for one kind of deceit."""
