"""What the API takes and says of benchmarks: figures, trainings, unjudged results, pins."""
