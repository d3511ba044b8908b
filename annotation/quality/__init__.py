"""The bench of label quality: what annotators say of given pairs, held against a truth.

`files` reads pairs, truth and labels; `answers` is what annotators said, as plain data; `bench` makes every
figure of it; `read_answers`, `entrants` and `evidence` read the database; `bench` puts them together.
docs/quality.md explains each figure.
"""
