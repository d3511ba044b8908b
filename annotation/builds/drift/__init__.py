"""The drift check: 50 pairs of a build asked again and again, and a shift beyond chance stops the build.

`watched_pairs` says when which check is due, `questions` asks its questions, `verdict` compares, `chance` is
the test.
"""
