"""Labels by code similarity: Aroma as an automatic judge, and a benchmark under its labels.

From the top of `publication`, which makes the benchmark, to `judge`, which compares code with answers.
"""
