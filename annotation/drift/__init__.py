"""The drift check: 50 pairs of a build asked again and again, and a shift beyond chance stops the build.

`watching` says when which check is due, `asking` asks its questions, `judging` compares, `chance` is the
test.
"""
