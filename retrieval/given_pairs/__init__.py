"""Pairs that somebody gives, in the place of a mining: those that a benchmark labels, or a file lists.

A list is kept once, so that several annotators judge the same pairs and one page audits them side by side.
"""

from __future__ import annotations

from retrieval.given_pairs.benchmarks import of_benchmark
from retrieval.given_pairs.files import Read, Wanted, of_file
from retrieval.given_pairs.storage import NoPairs

__all__ = ["NoPairs", "Read", "Wanted", "of_benchmark", "of_file"]
