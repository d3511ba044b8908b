"""Figure 2 of the paper: how likely a match is at a rank and up to it, and what one more function costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from annotation.builds.results.publication import builds_behind
from annotation.derived.extension.chances import cost_of_a_match
from annotation.models import Build
from annotation.stats.intervals import Share
from annotation.studies.report.table import Cell, Table
from annotation.web.cases.code import spell_unseen_characters
from annotation.web.corpus.plots import Plot, Series, draw_curve_plot
from annotation.web.corpus.tables import Section
from annotation.web.shared.words import small_dollars
from retrieval.corpus.ranks import AtRank
from retrieval.models import Benchmark
from retrieval.texts.plurals import count_noun

COLUMNS: Final = (
    "Rank",
    "Functions",
    "Judged",
    "Match at this rank",
    "At least one so far",
    "New queries",
    "Cost of this rank",
    "Cost a new query",
)
NOTE: Final = (
    "A match at a rank is the share of its judged functions. Queries with open functions count as not yet "
    "answered. The paper’s Figure 2 gives no numbers to compare with."
)
UNKNOWN: Final = "What one more function costs is not known: "
BUILDS_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Paid:
    """What builds paid for their settled pairs, in nanodollars; a pair that was judged in rounds counts once.

    `builds` are their names; without any nobody knows what a candidate costs.
    """

    builds: tuple[str, ...]
    spent: int
    pairs: float

    @property
    def a_pair(self) -> float | None:
        """None where it isn't known, or nothing was paid."""
        return self.spent / self.pairs if self.spent and self.pairs else None

    @property
    def words(self) -> str:
        """How a cost is meant, or why none is known."""
        if not self.builds:
            return f"{UNKNOWN}no build judged these functions here, so it was not measured."
        if not self.pairs:
            return f"{UNKNOWN}{self.named} settled no pair yet."
        if self.a_pair is None:
            return f"{UNKNOWN}{self.named} paid nothing: replies were reused or had no price."
        pairs = count_noun(round(self.pairs), "settled pair")
        return (
            "The cost of a rank is that of one more function for each query, at what a settled pair cost in "
            f"{self.named}: {small_dollars(self.spent)} ÷ {pairs} = {small_dollars(self.a_pair)}."
        )

    @property
    def named(self) -> str:
        first = ", ".join(f"“{spell_unseen_characters(name)}”" for name in self.builds[:BUILDS_NAMED])
        more = len(self.builds) - BUILDS_NAMED
        several = "builds" if len(self.builds) > 1 else "build"
        return f"the {several} {first}" + (f" and {more:,} more" if more > 0 else "")


def paid_by(builds: Sequence[Build]) -> Paid:
    """What these builds paid, all together; their tallies are read with them."""
    return Paid(
        tuple(build.name for build in builds),
        sum(build.tally.spent for build in builds),
        sum(build.tally.settled / build.rounds for build in builds),
    )


def paid_for(benchmark: Benchmark) -> Paid:
    """What the builds paid whose labels the benchmark has. Two statements at most."""
    return paid_by(builds_behind(benchmark))


def build_rank_section(rows: Sequence[AtRank], paid: Paid) -> Section:
    """One row a rank, with its plot."""
    shown = [row for row in rows if row.candidates]
    table = Table(
        "ranks",
        "Matches by rank",
        COLUMNS,
        tuple(rank_row(row, paid.a_pair) for row in shown),
        " ".join(filter(None, (NOTE, paid.words, next_rank(shown, paid.a_pair)))),
    )
    empty = "There are no functions with ranks."
    if not paid.builds:
        empty += f" {UNKNOWN}the labels were not made here, of the functions of a mining."
    return Section(table, draw_rank_plot(rows, paid.a_pair) if rows else None, empty)


def rank_row(row: AtRank, a_pair: float | None) -> tuple[Cell, ...]:
    paid = None if a_pair is None else a_pair * row.candidates
    new = cost_of_new(row, a_pair)
    return (
        row.rank,
        row.candidates,
        row.judged,
        None if row.match is None else f"{100 * row.match:.1f} %",
        f"{100 * row.reached:.1f} %",
        row.new,
        None if paid is None else small_dollars(paid),
        None if new is None else small_dollars(new),
    )


def cost_of_new(row: AtRank, a_pair: float | None) -> float | None:
    """Nanodollars for each query that has its first match at this rank; None where no query has."""
    return None if a_pair is None or not row.new else a_pair * row.candidates / row.new


def next_rank(rows: Sequence[AtRank], a_pair: float | None) -> str:
    """What a match among further candidates would cost at the chance that the last judged rank had."""
    judged = [row for row in rows if row.judged]
    if a_pair is None or not judged:
        return ""
    last = judged[-1]
    found = cost_of_a_match(a_pair, Share(last.matches, last.judged))
    if found is None or found.low is None or found.high is None:
        return f"At rank {last.rank} nothing matched, so the cost of one more match is not known."
    ends = f"{small_dollars(found.low)} to {small_dollars(found.high)}"
    return (
        f"At rank {last.rank}’s share of matches one more match would cost {small_dollars(found.value)} "
        f"({ends}, 95 %); lower ranks match less often, so probably more."
    )


def draw_rank_plot(rows: Sequence[AtRank], a_pair: float | None) -> Plot | None:
    """Both shares on one scale; the cost of a new query on its own, which its name in the key states."""
    lines = [
        Series("finished", "at least one match up to this rank", [row.reached for row in rows]),
        Series("paper", "match at this rank", [row.match for row in rows]),
    ]
    costs = [cost_of_new(row, a_pair) for row in rows]
    if top := max((cost for cost in costs if cost is not None), default=0):
        name = f"cost a new query, where the top is {small_dollars(top)}"
        lines.append(Series("cost", name, [None if cost is None else cost / top for cost in costs]))
    return draw_curve_plot(lines, 1.0, top="100 %", start="rank 1", end=f"rank {rows[-1].rank}")
