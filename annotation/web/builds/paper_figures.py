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
    f"{RUN}; other queries and other functions match more or less often",
)
UNCLEAR: Final = Reported("33 %", "“Preliminary Screener”")
CLEAR_TIME: Final = Reported(
    "about 10 s", "“Cost Analysis”", f"{RUN}; no median or percentile is given, nor what is counted"
)
UNCLEAR_TIME: Final = Reported(
    "up to 50 s", "“Cost Analysis”", f"{RUN}; an upper end with rate limits and installations, no percentile"
)

SIZES: Final = (
    ("CoSQA⁺, as reported", 412_080, 132_952, 378.052, "4.31", "83.67 %"),
    ("CoSQA⁺, first version, as reported", 108_896, 51_516, 271.059, None, None),
)
"""Pairs, snippets, mean length, test cases a program and executable programs, of Table 1 of the paper and of
its first version, which had five functions a query and no tests. The length's unit is not said; characters
fit."""
QUERIES: Final = 20_604
_TO_TEN: Final = (2907, 2445, 2121, 1748, 1429, 1266, 1108, 873, 724, 628)
_FROM_ELEVEN: Final = (481, 398, 345, 220, 155, 126, 78, 44, 19, 3)
QUERIES_BY_MATCHES: Final = dict(enumerate(_TO_TEN + _FROM_ELEVEN, 1))
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
