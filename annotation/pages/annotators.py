"""The page that sets two annotators side by side over the pairs that both have labelled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation.comparing import FEW_QUERIES, Took
from annotation.comparing_annotators import (
    LAST,
    MOST_PAIRS,
    Comparison,
    FlippedPair,
    Side,
    annotators,
    builds_of,
    compare,
    flipped_pairs,
    reach,
    side_of,
)
from annotation.intervals import Mean
from annotation.models import Build
from annotation.pages.candidates import first_line
from annotation.pages.comparison import FigureRow, figures, sign
from annotation.pages.words import Sign
from annotation.review.order import Apart, Flipped
from annotation.studies.naming import name_of
from annotation.studies.planning import StudyRefused
from annotation.studies.sealing import refuse_unscored
from retrieval.models import Annotator, Text
from retrieval.models.labels import WRITTEN

MOST_BUILDS: Final = 3
"""Builds of either side that are set against each other."""
MOST_TO_REVIEW: Final = 10
NOBODY: Final = Took(*[0] * 11)
NO_FIGURE: Final = "–"


@dataclass(frozen=True, slots=True)
class Choice:
    """An annotator as the form offers it."""

    annotator: Annotator
    name: str


@dataclass(frozen=True, slots=True)
class Cell:
    """So many pairs; `pairs` is None where nobody can say, as for pairs that nobody labelled."""

    sign: Sign
    pairs: int | None
    is_flip: bool


@dataclass(frozen=True, slots=True)
class Row:
    """What the second annotator said of the pairs that the first one gave this label."""

    sign: Sign
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class ShareRow:
    """A figure of the common pairs."""

    name: str
    value: Mean | None
    note: str


@dataclass(frozen=True, slots=True)
class QueryRow:
    query: Text
    to_match: int
    to_no_match: int
    pairs: int


@dataclass(frozen=True, slots=True)
class PairRow:
    """A flip, ready to be read."""

    flip: FlippedPair
    first: Sign
    second: Sign
    title: str


@dataclass(frozen=True, slots=True)
class TwoBuilds:
    """A build of the first and one of the second, whose flips can be reviewed."""

    first: Build
    second: Build
    worklist: Flipped


@dataclass(frozen=True, slots=True)
class BuildToReview:
    """A build with cases of so many flipped pairs."""

    build: Build
    flips: int


@dataclass(frozen=True, slots=True)
class ToReview:
    """Where flips can be sent to review; `without` of them have no case in a build that is shown."""

    worklist: Apart
    builds: tuple[BuildToReview, ...]
    without: int


@dataclass(frozen=True, slots=True)
class AnnotatorsPage:
    """`found` is None until two annotators, or two rounds of one, are chosen."""

    choices: tuple[Choice, ...]
    first: Side | None
    second: Side | None
    names: tuple[str, str] = ("", "")
    problem: str = ""
    found: Comparison | None = None
    matrix: tuple[Row, ...] = ()
    shares: tuple[ShareRow, ...] = ()
    took: tuple[FigureRow, ...] = ()
    worst: tuple[QueryRow, ...] = ()
    pairs: tuple[PairRow, ...] = ()
    builds: tuple[TwoBuilds, ...] = ()
    to_review: ToReview | None = None
    few: int = FEW_QUERIES
    most: int = MOST_PAIRS

    @property
    def seen(self) -> list[int]:
        """The pairs whose labels are on the page."""
        told = self.found.told.values_list("pk", flat=True) if self.found else ()
        return [*(row.flip.pair.pk for row in self.pairs), *told]


def annotators_page(
    builds: QuerySet[Build], wanted: tuple[int, int], rounds: tuple[int, int]
) -> AnnotatorsPage:
    """The page for two annotators by their ids (-1: not chosen) and the numbers of rounds (`LAST`)."""
    choices = choices_of(annotators().order_by("kind", "name", "pk"))
    known = {one.annotator.pk: one for one in choices}
    first, second = (
        side_of(known[pk].annotator, number) if pk in known else None
        for pk, number in zip(wanted, rounds, strict=True)
    )
    if first is None or second is None:
        return AnnotatorsPage(choices, first, second)
    names = titled(known, first), titled(known, second)
    problem = problem_of(first, second)
    if problem:
        return AnnotatorsPage(choices, first, second, names, problem)
    found = compare(first, second, builds)
    return AnnotatorsPage(
        choices,
        first,
        second,
        names,
        found=found,
        matrix=tuple(matrix(found)),
        shares=tuple(shares(found)),
        took=tuple(took_rows(found)),
        worst=tuple(queries(found)),
        pairs=tuple(pair_rows(found, builds)),
        builds=tuple(two_builds(found, builds)),
        to_review=to_review(found, builds),
    )


def problem_of(first: Side, second: Side) -> str:
    """Why the two are not compared; empty where they are."""
    if first == second:
        return "Choose two different annotators, or two rounds of one."
    try:
        refuse_unscored(first.annotator, second.annotator)
    except StudyRefused as why:
        return str(why)
    return ""


def choices_of(rows: Iterable[Annotator]) -> tuple[Choice, ...]:
    """The annotators by names that a person knows: people by their account's. One query."""
    found = list(rows)
    people = {
        one.config["user"] for one in found if one.kind == Annotator.Kind.PERSON and "user" in one.config
    }
    accounts = {one.pk: one.get_username() for one in User.objects.filter(pk__in=people)}
    return tuple(Choice(one, called(one, accounts)) for one in found)


def called(annotator: Annotator, accounts: Mapping[int, str]) -> str:
    """An annotator's name, with what tells it from others of its name."""
    if annotator.kind != Annotator.Kind.PERSON:
        return f"{name_of(annotator)}, {annotator.get_kind_display()}"
    name = accounts.get(annotator.config.get("user", 0), annotator.name)
    return f"{name}, {WRITTEN if annotator.config.get('decides') == WRITTEN else 'person'}"


def titled(known: Mapping[int, Choice], side: Side) -> str:
    """A side's name, with its round where there are several."""
    name = known[side.annotator.pk].name
    if len(side.rounds) < 2:
        return name
    return f"{name}, last round" if side.round == LAST else f"{name}, round {side.round}"


def matrix(found: Comparison) -> Iterable[Row]:
    """Three rows of three: match, no match, no label."""
    for label in (1, 0):
        cells = [Cell(sign(other), found.cells[label, other], label != other) for other in (1, 0)]
        yield Row(sign(label), (*cells, Cell(sign(None), found.alone(0, label), is_flip=False)))
    alone = [Cell(sign(label), found.alone(1, label), is_flip=False) for label in (1, 0)]
    yield Row(sign(None), (*alone, Cell(sign(None), None, is_flip=False)))


def shares(found: Comparison) -> Iterable[ShareRow]:
    """What the common pairs show."""
    told = found.figures
    yield ShareRow("No match → match", told.to_match, "share of the common pairs")
    yield ShareRow("Match → no match", told.to_no_match, "share of the common pairs")
    yield ShareRow("Agreement", told.agreement, "share of the common pairs")
    yield ShareRow("Share of matches", told.shift, "second minus first")
    yield ShareRow("Cohen’s κ", told.kappa, "agreement beyond chance; 1 is all, 0 none")


def took_rows(found: Comparison) -> Iterable[FigureRow]:
    """What the builds of both sides took; nothing where neither has one."""
    first, second = found.took
    if first is None and second is None:
        return
    for row in figures(first or NOBODY, second or NOBODY, found.pairs):
        yield FigureRow(
            row.name,
            NO_FIGURE if first is None else row.first,
            NO_FIGURE if second is None else row.second,
            row.note,
        )


def queries(found: Comparison) -> Iterable[QueryRow]:
    """The queries with the most flips. One query of the database."""
    texts = Text.objects.with_bodies().in_bulk([one.query for one in found.worst])
    for one in found.worst:
        yield QueryRow(texts[one.query], one.to_match, one.to_no_match, one.pairs)


def pair_rows(found: Comparison, builds: QuerySet[Build]) -> Iterable[PairRow]:
    for one in flipped_pairs(found, builds):
        yield PairRow(one, sign(one.first), sign(one.second), first_line(one.pair.snippet.head))


def two_builds(found: Comparison, builds: QuerySet[Build]) -> Iterable[TwoBuilds]:
    """The newest builds of the first against those of the second."""
    own = (builds_of(side, builds)[:MOST_BUILDS] for side in (found.first, found.second))
    for one, other in product(*own):
        if one != other:
            yield TwoBuilds(one, other, Flipped(one.pk))


def to_review(found: Comparison, builds: QuerySet[Build]) -> ToReview | None:
    """The builds whose cases show flipped pairs, those with the most first; None without a flip."""
    if not found.flips:
        return None
    reached = reach(found, builds)
    known = Build.objects.in_bulk([pk for pk, _ in reached.builds[:MOST_TO_REVIEW]])
    rows = tuple(
        BuildToReview(known[pk], count) for pk, count in reached.builds[:MOST_TO_REVIEW] if pk in known
    )
    sides = ((side.annotator.pk, side.round) for side in (found.first, found.second))
    return ToReview(Apart(*sides), rows, found.flips - reached.pairs)
