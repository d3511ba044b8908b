"""The page that sets two builds side by side over their common pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.comparing import FEW_QUERIES, Comparison, Judged, Took, compare, settings_that_differ
from annotation.models import Build
from annotation.models.builds import NANO
from annotation.pages.words import UNJUDGED, Sign, label_sign
from annotation.place_effect import Effect, effect
from annotation.review.order import Flipped
from retrieval.models import Annotator

LONGEST_SETTING = 200
TESTED = "a test and the arbiter"


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """What the second build said of the pairs of which the first one said `sign`."""

    sign: Sign
    counts: tuple[tuple[Sign, int, bool, str], ...]
    """Each with its count, whether that is of flips, and the query of its cases in the second build."""


@dataclass(frozen=True, slots=True)
class FlipRow:
    """Flips of one kind, by what decided on each side."""

    before: Sign
    after: Sign
    first: str
    second: str
    pairs: int
    link: str = ""


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure of both sides, ready to be read."""

    name: str
    first: str
    second: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """`found` is None until two different builds are chosen; `problem` says what is wrong with a choice."""

    builds: tuple[Build, ...]
    first: Build | None
    second: Build | None
    problem: str = ""
    found: Comparison | None = None
    matrix: tuple[MatrixRow, ...] = ()
    flips: tuple[FlipRow, ...] = ()
    figures: tuple[FigureRow, ...] = ()
    settings: tuple[FigureRow, ...] = ()
    worklist: Flipped | None = None
    few: int = FEW_QUERIES
    effects: tuple[tuple[Build, Effect], ...] = ()


def comparison_page(visible: QuerySet[Build], first: int, second: int) -> ComparisonPage:
    """The page for two builds by their ids; -1 for one that is not chosen."""
    builds = tuple(visible.filter(opened=True).select_related("tally", "annotator").order_by("-pk"))
    one, other = (next((build for build in builds if build.pk == pk), None) for pk in (first, second))
    if one is None or other is None:
        return ComparisonPage(builds, one, other)
    if one == other:
        return ComparisonPage(builds, one, other, problem="Choose two different builds.")
    found = compare(one, other)
    return ComparisonPage(
        builds,
        one,
        other,
        found=found,
        matrix=tuple(matrix(found)),
        flips=tuple(flips(found)),
        figures=tuple(figures(*found.took, found.pairs)),
        settings=tuple(differing(one, other)),
        worklist=Flipped(one.pk),
        effects=tuple((side, told) for side in (one, other) if (told := effect(side)) is not None),
    )


def matrix(found: Comparison) -> Iterable[MatrixRow]:
    """What both said of the common pairs: three rows of three."""
    labels = (1, 0, None)
    for label in labels:
        cells = (
            (sign(other), found.count(label, other), {label, other} == {0, 1}, cases_of(found, label, other))
            for other in labels
        )
        yield MatrixRow(sign(label), tuple(cells))


def sign(label: int | None) -> Sign:
    return UNJUDGED if label is None else label_sign(label)


def flips(found: Comparison) -> Iterable[FlipRow]:
    """The most frequent kind first."""
    for one in sorted((one for one in found.groups if one.is_flip), key=lambda one: -one.pairs):
        deciders = decider(found.first, one.first), decider(found.second, one.second)
        link = cases_of(found, one.first.label, one.second.label)
        link += "&other_by=test" if one.first.tested else "&other_by=screener"
        link += "&reached=arbitrated" if one.second.tested else "&reached=clear"
        yield FlipRow(sign(one.first.label), sign(one.second.label), *deciders, one.pairs, link)


def cases_of(found: Comparison, first: int | None, second: int | None) -> str:
    """The query of the second build's cases of the common pairs with these labels."""
    said = ("none" if label is None else str(label) for label in (first, second))
    return f"against={found.first.pk}&other={next(said)}&label={next(said)}"


def decider(build: Build, judged: Judged) -> str:
    """Who gave the label, in words."""
    if build.annotator.kind == Annotator.Kind.SINGLE_LLM:
        return "the model alone"
    return TESTED if judged.tested else "the screener"


def figures(first: Took, second: Took, pairs: int) -> Iterable[FigureRow]:
    """What each side took over the common pairs."""

    def row(name: str, say: str, note: str = "") -> FigureRow:
        return FigureRow(name, spelled(first, say, pairs), spelled(second, say, pairs), note)

    yield row("Cost of its calls", "cost", "whoever paid them")
    yield row("Cost a pair", "pair_cost")
    yield row("Calls", "calls")
    yield row("Tokens in", "input_tokens")
    yield row("Tokens out", "output_tokens")
    yield row("Waiting for the model, a pair", "asking", "seconds, all calls of a pair together")
    yield row("Test programs", "programs")
    yield row("Executable", "ran", "of them")
    yield row("Second tests", "second_tests", "because the first one tested nothing")
    if first.second_tests or second.second_tests:
        yield row("Second tests that tested the candidate", "second_touched", "of them")
        yield row("Cost of writing second tests", "second_cost", "whoever paid it")
    yield row("Running tests, a program", "running", "seconds")


def spelled(took: Took, what: str, pairs: int) -> str:
    """One figure of a side; a dash where nothing was counted."""
    match what:
        case "cost":
            return f"${took.cost / NANO:,.4f}"
        case "second_cost":
            return f"${took.second_cost / NANO:,.4f}"
        case "second_touched":
            return counts(took.second_touched, took.second_tests)
        case "pair_cost":
            return f"${took.cost / NANO / pairs:,.6f}" if pairs else "–"
        case "asking":
            return f"{took.asking_seconds / pairs:,.1f}" if pairs else "–"
        case "ran":
            return f"{100 * took.ran / took.programs:.1f} %" if took.programs else "–"
        case "running":
            return f"{took.running_seconds / took.programs:,.2f}" if took.programs else "–"
    return f"{getattr(took, what):,}"


def counts(part: int, whole: int) -> str:
    return f"{part:,} ({100 * part / whole:.1f} %)" if whole else "–"


def differing(first: Build, second: Build) -> Iterable[FigureRow]:
    """The settings of the annotators that differ."""
    for name, values in settings_that_differ(first, second).items():
        one, other = ("not set" if value is None else str(value)[:LONGEST_SETTING] for value in values)
        yield FigureRow(name, one, other)
