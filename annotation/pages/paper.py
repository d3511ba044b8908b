"""What the paper on test-driven agents reports of its own build, to stand beside a build's figures.

Its first version and CodeSearchNet are named where a figure is theirs.

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

PAIRS: Final = 412_080
SNIPPETS: Final = 132_952
MEAN_LENGTH: Final = 378.052
MEAN_TEST_CASES: Final = 4.31
EXECUTABLE_SHARE: Final = 83.67
"""Table 1. The length's unit is not said; characters fit."""
FIRST_PAIRS: Final = 108_896
FIRST_SNIPPETS: Final = 51_516
FIRST_MEAN_LENGTH: Final = 271.059
"""Table 1 of the first version of the paper, which had five candidates a query and no tests."""
QUERIES: Final = 20_604
QUERIES_BY_MATCHES: Final = {
    1: 2907,
    2: 2445,
    3: 2121,
    4: 1748,
    5: 1429,
    6: 1266,
    7: 1108,
    8: 873,
    9: 724,
    10: 628,
    11: 481,
    12: 398,
    13: 345,
    14: 220,
    15: 155,
    16: 126,
    17: 78,
    18: 44,
    19: 19,
    20: 3,
}
"""Table 6, which begins at one match."""
WITHOUT_MATCH: Final = QUERIES - sum(QUERIES_BY_MATCHES.values())
"""What Table 6 leaves out: all that is missing to 20,604 queries."""

CODESEARCHNET: Final = {
    "Go": (347_789, 726_768),
    "Java": (542_991, 1_569_889),
    "JavaScript": (157_988, 1_857_835),
    "PHP": (717_313, 977_821),
    "Python": (503_502, 1_156_085),
    "Ruby": (57_393, 164_048),
}
"""CodeSearchNet's Table 1: functions with documentation, and all."""
ANNOTATIONS: Final = {
    "Go": (62, 64, 29, 11),
    "Java": (383, 178, 125, 137),
    "JavaScript": (153, 52, 56, 58),
    "PHP": (103, 77, 68, 66),
    "Python": (498, 511, 537, 543),
    "Ruby": (123, 105, 53, 34),
}
"""Its Table 2: annotations by relevance 0 to 3."""
