"""What the API takes and says of builds made of builds: extensions, reruns, missing functions."""
