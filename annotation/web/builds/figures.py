"""A build's figures at a glance: how far its cases came, what stages take and agents cost, beside the paper.

Everything is read from counters: the totals, a bill for each agent, two small histograms. What can't be said
yet is an empty text, never a 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from annotation.agents import snippet_writer, test_writer
from annotation.builds.launch.estimates import estimate
from annotation.builds.pipeline.screening import first_agent
from annotation.builds.results.progress import Snapshot
from annotation.models import AgentBill, Build, Duration, Tally
from annotation.models.builds.figures import bucket_midpoint_seconds
from annotation.stages import QUEUE_OF, Stage
from annotation.web.builds import paper_figures as paper
from annotation.web.builds.disputes import disputes_of
from annotation.web.builds.spot_checks import spot_checks_of
from annotation.web.shared.words import format_duration, format_percent, small_dollars

Histogram = list[tuple[int, int]]
"""(class of the time, pairs in it), the shortest first."""
AGENTS: Final[Mapping[Stage, str]] = {
    stage: agent for stage, agent in estimate.AGENTS.items() if stage is not Stage.SCREENING
}
"""Who asks a model in a later stage; executing asks none, and who screens the annotator says."""
OF_READERS: Final = (Stage.READING, Stage.TIE_BREAKING)
"""The stages that an annotator without a reader does not have."""
REACHED: Final = {
    Stage.SCREENING: "screened",
    Stage.READING: "read",
    Stage.WRITING_TEST: "written",
    Stage.EXECUTING: "executed",
    Stage.FIXING: "fixed",
    Stage.ARBITRATING: "arbitrated",
    Stage.TIE_BREAKING: "disputed",
}
"""The filter of the cases that a stage has worked on."""


@dataclass(frozen=True, slots=True)
class Level:
    """How many cases came so far; `of` names what `count` is a part of, `link` is the query of its cases."""

    name: str
    count: int
    whole: int
    of: str
    link: str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure of this build (empty: can't be said yet, `note` says why) beside the paper's."""

    name: str
    here: str
    note: str
    paper: paper.Reported
    link: str = ""


@dataclass(frozen=True, slots=True)
class StageRow:
    """What a stage takes and its agent costs. Money is in nanodollars, times are in seconds.

    `cases` of the fixer are rounds: a case may lack several modules. Without a stage it is the bill of who
    writes the functions that then go through the stages.
    """

    stage: Stage | None
    agent: str
    cases: int
    mean_seconds: float | None
    slowest: bool
    bill: AgentBill | None

    @property
    def link(self) -> str:
        """The query of its cases."""
        return f"reached={REACHED[self.stage]}" if self.stage else ""

    @property
    def latency(self) -> float | None:
        """Mean seconds of a call."""
        bill = self.bill
        return bill.milliseconds / 1000 / bill.calls if bill and bill.calls and bill.milliseconds else None

    @property
    def cost_a_case(self) -> float | None:
        return self.bill.spent / self.cases if self.bill and self.cases else None


def summarize_build_figures(shot: Snapshot, began: float | None) -> dict[str, Any]:
    """The figures of a snapshot; `began` = minutes since its cases were made. Reads two small tables.

    `second` is None where the annotator asks for no second test.
    """
    tally, build = shot.tally, shot.build
    bills = {bill.agent: bill for bill in AgentBill.objects.filter(build=build)}
    agents = {Stage.SCREENING: first_agent(build.annotator), **AGENTS}
    writer = bills.get(snippet_writer.NAME)
    written = [StageRow(None, snippet_writer.NAME, 0, None, False, writer)] if writer else []
    return {
        "levels": build_funnel_levels(tally, build.rounds),
        "compared": compare_paper_figures(shot),
        "stages": [*written, *stage_rows(tally, agents, bills)],
        "by_file": build.provider != Build.Provider.LIVE,
        "mean_a_minute": shot.finished / began if began and shot.finished else None,
        "second": second_tests(shot, bills.get(test_writer.NAME)),
        "disputes": disputes_of(build),
        "spot_checks": spot_checks_of(build),
    }


def second_tests(shot: Snapshot, bill: AgentBill | None) -> dict[str, Any] | None:
    """What asking for another program has brought, where the first one tested nothing.

    How many were executed, how many touched the candidate, and nanodollars by the mean call of the test
    writer; None where that is not known.
    """
    tally = shot.tally
    if not tally.second_tests and not shot.build.annotator.config.get("second_test", False):
        return None
    paid = bill is not None and bill.calls and (bill.spent or shot.has_price)
    cost = tally.second_tests * bill.spent / bill.calls if bill is not None and paid else None
    return {"tests": tally.second_tests, "touched": tally.second_touched, "cost": cost}


def build_funnel_levels(tally: Tally, rounds: int = 1) -> list[Level]:
    """The funnel: from the candidates, in all rounds, to what is settled; nothing before there are cases.

    Levels of what a design does not have, or has not come to, are left out: a second test, a reader.
    """
    if not tally.total:
        return []
    all_, first = ("pairs", "pairs") if rounds == 1 else ("cases", f"cases, {rounds} rounds")
    levels = [
        Level(first, tally.total, tally.total, "", ""),
        Level("screened", tally.screened, tally.total, f"of the {all_}", "reached=screened"),
        Level("clear", tally.cleared, tally.screened, "of the screened", "reached=clear", 1),
        Level("unclear", tally.unclear, tally.screened, "of the screened", "reached=unclear", 1),
        Level("tests written", tally.written, tally.unclear, "of the unclear", "reached=written"),
        Level("tests executed", tally.programs, tally.written, "of the tests", "reached=executed"),
        *levels_of_tests(tally),
        Level("arbitrated", tally.arbitrated, tally.programs, "of the executed", "reached=arbitrated"),
    ]
    if tally.read:
        levels.append(Level("disputed", tally.disputed, tally.read, "of those read", "reached=disputed", 1))
    return [
        *levels,
        Level("settled", tally.settled, tally.total, f"of the {all_}", "stage=settled"),
        Level("abandoned", tally.abandoned, tally.total, f"of the {all_}", "stage=abandoned"),
    ]


def levels_of_tests(tally: Tally) -> Iterator[Level]:
    """What came of the tests that were executed, and of second tests where any was."""
    programs, of = tally.programs, "of the executed"
    yield Level("ran", tally.ran, programs, of, "ran=yes", 1)
    yield Level("did not run", programs - tally.ran, programs, of, "ran=no", 1)
    yield Level("tested the function", tally.touched, programs, of, "ran=tested", 1)
    if tally.sound_tests:
        yield Level("passes right code, fails wrong code", tally.sound_tests, programs, of, "", 1)
    if second := tally.second_tests:
        yield Level("second tests", second, programs, of, "reached=second", 1)
        name, link = "that tested the function", "reached=second_tested"
        yield Level(name, tally.second_touched, second, "of the second tests", link, 1)


def compare_paper_figures(shot: Snapshot) -> tuple[Compared, ...]:
    """The figures that the paper reports, too."""
    tally = shot.tally
    return (
        Compared("Cost of a pair", *cost_a_pair(shot), paper.COST_A_PAIR),
        Compared(
            "Executable rate",
            format_percent(tally.ran, tally.programs, ""),
            describe_part_of_whole(tally.ran, tally.programs, "test program", "ran"),
            paper.EXECUTABLE,
            "ran=yes",
        ),
        Compared("Test cases a program", *test_cases(tally), paper.TEST_CASES, "reached=written"),
        Compared(
            "Share of label 1",
            format_percent(tally.matches, tally.settled, ""),
            describe_part_of_whole(tally.matches, tally.settled, "settled case", "are matches"),
            paper.MATCHES,
            "label=1",
        ),
        Compared(
            "Unclear",
            format_percent(tally.unclear, tally.screened, ""),
            describe_part_of_whole(tally.unclear, tally.screened, "screened case", "needed a test"),
            paper.UNCLEAR,
            "reached=unclear",
        ),
        *compare_pair_times(shot.build),
    )


def describe_part_of_whole(part: int, whole: int, noun: str, verb: str) -> str:
    """`1,234 of 5,678 settled cases are matches`, or that there is none yet."""
    if not whole:
        return f"no {noun} yet"
    return f"{part:,} of {whole:,} {noun}{'' if whole == 1 else 's'} {verb}"


def cost_a_pair(shot: Snapshot) -> tuple[str, str]:
    """Everything that was spent, by the settled pairs; and how that is meant."""
    tally = shot.tally
    if not tally.settled:
        return "", "no pair is settled yet"
    if not shot.has_price and not tally.spent:
        return "", "not known: the model has no price"
    if not tally.calls:
        return "", "nothing was paid: all replies were reused"
    times_paper = tally.spent / tally.settled / paper.COST
    each = "" if shot.build.rounds == 1 else ", once for each round"
    note = f"all that was spent ÷ {tally.settled:,} settled{each}; {times_paper:.2g} × the paper’s"
    return small_dollars(tally.spent / tally.settled), note


def test_cases(tally: Tally) -> tuple[str, str]:
    """The mean number of assertions in the programs that were written."""
    if not tally.written:
        return "", "no test program yet"
    if not tally.test_cases:
        return "", "not counted in this build"
    return f"{tally.test_cases / tally.written:.2f}", f"assertions in {tally.written:,} programs"


def compare_pair_times(build: Build) -> tuple[Compared, Compared]:
    """Median and p95 of clear and unclear pairs."""
    rows = Duration.objects.filter(build=build).order_by("bucket").values_list("path", "bucket", "cases")
    classes: dict[str, Histogram] = {path: [] for path in Duration.Path.values}
    for path, bucket, cases in rows:
        classes[path].append((bucket, cases))
    clear, unclear = classes[Duration.Path.CLEAR], classes[Duration.Path.UNCLEAR]
    return (
        Compared(
            "Time of a clear pair",
            *format_time_quantiles(clear),
            paper.CLEAR_TIME,
            "reached=clear&sort=duration",
        ),
        Compared(
            "Time of an unclear pair",
            *format_time_quantiles(unclear),
            paper.UNCLEAR_TIME,
            "reached=arbitrated&sort=duration",
        ),
    )


def format_time_quantiles(classes: Histogram) -> tuple[str, str]:
    """Median and p95 in words, with how many pairs were timed."""
    timed = sum(cases for _, cases in classes)
    if not timed:
        return "", "no pair was timed yet"
    median, late = histogram_quantile(classes, 0.5), histogram_quantile(classes, 0.95)
    pairs = "1 pair" if timed == 1 else f"{timed:,} pairs"
    return f"{format_duration(median)} · p95 {format_duration(late)}", f"median and p95 of {pairs}, to 5 %"


def histogram_quantile(classes: Histogram, share: float) -> float:
    """Seconds below which `share` of the pairs lie: the class in which the pair of that rank is."""
    rank, passed = share * sum(cases for _, cases in classes), 0
    for bucket, cases in classes:
        passed += cases
        if passed >= rank:
            return bucket_midpoint_seconds(bucket)
    return bucket_midpoint_seconds(classes[-1][0])


def stage_rows(
    tally: Tally, agents: Mapping[Stage, str], bills: Mapping[str, AgentBill]
) -> tuple[StageRow, ...]:
    """Each working stage; the one that takes longest a case is marked, if two can be compared."""
    through = {
        Stage.SCREENING: tally.screened,
        Stage.READING: tally.read,
        Stage.WRITING_TEST: tally.written,
        Stage.EXECUTING: tally.programs,
        Stage.FIXING: tally.fixings,
        Stage.ARBITRATING: tally.arbitrated,
        Stage.TIE_BREAKING: tally.disputed,
    }
    met = {stage for stage in OF_READERS if through[stage] or getattr(tally, stage)}
    worked = [stage for stage in QUEUE_OF if stage not in OF_READERS or stage in met]
    means = {stage: mean_seconds(getattr(tally, f"{stage}_ms"), through[stage]) for stage in worked}
    known = {stage: mean for stage, mean in means.items() if mean is not None}
    slowest = max(known, key=known.__getitem__) if len(known) > 1 else None
    return tuple(
        StageRow(
            stage,
            agents.get(stage, ""),
            through[stage],
            means[stage],
            stage == slowest,
            bills.get(agents.get(stage, "")),
        )
        for stage in worked
    )


def mean_seconds(milliseconds: int, cases: int) -> float | None:
    return milliseconds / 1000 / cases if milliseconds and cases else None
