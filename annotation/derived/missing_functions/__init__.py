"""Functions for queries without a match: counted, written, checked, decided about by experts.

Paper: CoSQA+'s first version, "Missing Code Generation". Here the test-driven path checks each function
before a person sees it, and nothing of it belongs to a benchmark before that person has accepted it.
"""
