"""What the paper on test-driven agents reports of its own build, to stand beside a build's figures.

All of it is one run: 412,080 pairs of its own data, labelled by DeepSeek-V3. It compares with a build of that
model on that data alone; beside any other it is a point of reference. Each figure says where it is reported
and what the paper leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

COST: Final = 620_000
"""Nanodollars a pair: "$0.00062 per sample"."""
RUN: Final = "DeepSeek-V3 on its own 412,080 pairs"


@dataclass(frozen=True, slots=True)
class Reported:
    """A figure as the paper reports it, where, and what it is comparable to."""

    value: str
    where: str
    comparable: str = RUN


COST_A_PAIR: Final = Reported("$0.00062", "“Cost Analysis”: about $257 in all")
EXECUTABLE: Final = Reported(
    "83.67 %", "Table 1", f"{RUN}; it does not define when a program counts as executable"
)
TEST_CASES: Final = Reported("4.31", "Table 1", f"{RUN}; it does not say what counts as one test case")
MATCHES: Final = Reported(
    "21.3 %",
    "added up from Table 6: 87,941 of 412,080 pairs",
    f"{RUN}; other queries and other candidates match more or less often",
)
UNCLEAR: Final = Reported("33 %", "“Preliminary Screener”")
CLEAR_TIME: Final = Reported(
    "about 10 s", "“Cost Analysis”", f"{RUN}; no median or percentile is given, nor what is counted"
)
UNCLEAR_TIME: Final = Reported(
    "up to 50 s", "“Cost Analysis”", f"{RUN}; an upper end with rate limits and installations, no percentile"
)
