"""Each given pair with its original label, what every build said of it, and what experts say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final

from django.db.models import Q, QuerySet

from annotation.models import Build, Case
from annotation.stages import Stage
from annotation.studies.plan.row_names import format_annotator_name
from annotation.studies.plan.seals import find_sealed_annotators, is_open, refuse_unscored
from retrieval.evaluation.merge_rule import FEWEST_REVIEWS, AnnotatorStatement, merge_statements
from retrieval.models import Annotator, BenchmarkLabel, Label, PairList, Source, label_source_of

ROWS_A_READ: Final = 2000
MOST_BUILDS: Final = 8
"""Side by side; the newest."""


class How(StrEnum):
    """How a build came to what it says of a pair."""

    SCREENER = "screener"
    TESTED = "tested"
    ALONE = "alone"
    ABANDONED = "abandoned"
    OPEN = "open"


class Experts(StrEnum):
    """What experts say of a pair: what the merge rule publishes, or that they are too few, or apart."""

    MATCH = "1"
    NO_MATCH = "0"
    FEW = "few"
    NONE = "none"

    @property
    def label(self) -> int | None:
        return int(self) if self in {Experts.MATCH, Experts.NO_MATCH} else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a build says of a pair, in its first round; `cause`: why it could not be judged."""

    case: int
    label: int | None
    how: How
    cause: str = ""

    @property
    def said(self) -> str:
        """1, 0, abandoned or open."""
        return str(self.how) if self.label is None else str(self.label)


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A pair; `verdicts` are those of the audit's builds, None where a build has no case of it."""

    pair: int
    query: int
    original: int | None
    verdicts: tuple[Verdict | None, ...]
    experts: Experts

    @property
    def differs(self) -> bool:
        """Whether not all that was said of it is the same."""
        labels = [self.original, self.experts.label, *(verdict.label for verdict in self.verdicts if verdict)]
        return len({label for label in labels if label is not None}) > 1


@dataclass(frozen=True, slots=True)
class Audit:
    """Given pairs, the builds that judge them (the one that is asked for first, unless it is a queue for
    experts), and every pair by place.

    `left_out`: studies whose labels are left out, as they are sealed and a version is not scored on them.
    """

    given: PairList
    builds: tuple[Build, ...]
    rows: tuple[AuditRow, ...]
    left_out: tuple[str, ...] = ()

    @property
    def build(self) -> Build:
        return self.builds[0]


def audit_of(build: Build, visible: QuerySet[Build]) -> Audit:
    """The audit of a build's given pairs, beside the other `visible` builds of them but for spot checks.

    Raises StudyRefused where the original labels are a sealed study's, on which a version is not scored.
    """
    assert build.pair_list is not None, "whoever asks has refused a build that was mined"
    others = visible.filter(pair_list=build.pair_list, for_experts=False).exclude(pk=build.pk)
    others = others.exclude(rerun__spot_check=True)
    others = others.select_related("annotator", "tally").order_by("-pk")[: MOST_BUILDS - 1]
    builds = (*([] if build.for_experts and others else [build]), *others)
    sealed = find_sealed_annotators()
    refuse_sealed(build.pair_list, builds, sealed)
    hidden = [
        annotator for annotator in sealed if not all(is_open(annotator, each.annotator) for each in builds)
    ]
    return Audit(
        build.pair_list,
        builds,
        tuple(read_audit_rows(build.pair_list, builds, hidden)),
        tuple(map(format_annotator_name, hidden)),
    )


def refuse_sealed(given: PairList, builds: Sequence[Build], sealed: Sequence[Annotator]) -> None:
    """Raises StudyRefused where the pairs came with a sealed study's labels."""
    for truth in sealed:
        held = BenchmarkLabel.objects.filter(benchmark=given.benchmark_id, label__annotator=truth)
        if held.exists():
            for build in builds:
                refuse_unscored(truth, build.annotator)


def read_audit_rows(
    given: PairList, builds: Sequence[Build], hidden: Sequence[Annotator]
) -> Iterator[AuditRow]:
    """Every pair, in the order of its query and place."""
    original = load_original_labels(given)
    verdicts = [verdicts_of(build) for build in builds]
    needed = max((build.reviews_needed for build in builds), default=FEWEST_REVIEWS)
    experts = experts_of(given, hidden, needed)
    places = given.candidates.order_by("query_id", "rank").values_list("pair_id", "query_id")
    for pair, query in places.iterator(ROWS_A_READ):
        said = tuple(verdict.get(pair) for verdict in verdicts)
        yield AuditRow(pair, query, original.get(pair), said, experts.get(pair, Experts.NONE))


def load_original_labels(given: PairList) -> dict[int, int]:
    """The labels that the pairs came with, as 0 and 1: a match is above 0, as in benchmarks."""
    rows = BenchmarkLabel.objects.filter(benchmark=given.benchmark_id).values_list("pair_id", "relevance")
    return {pair: int(relevance > 0) for pair, relevance in rows.iterator(ROWS_A_READ)}


def verdicts_of(build: Build) -> dict[int, Verdict]:
    """By pair."""
    alone = build.annotator.kind == Annotator.Kind.SINGLE_LLM
    columns = "pair_id", "pk", "stage", "label", "program_id", "cause"
    rows = Case.objects.filter(build=build, round=1).order_by().values_list(*columns)
    return {
        pair: Verdict(case, label, how_of(stage, program is not None, alone=alone), cause)
        for pair, case, stage, label, program, cause in rows.iterator(ROWS_A_READ)
    }


def how_of(stage: str, has_program: bool, *, alone: bool) -> How:
    if stage == Stage.ABANDONED:
        return How.ABANDONED
    if stage != Stage.SETTLED:
        return How.OPEN
    if alone:
        return How.ALONE
    return How.TESTED if has_program else How.SCREENER


def experts_of(given: PairList, hidden: Sequence[Annotator], reviews_needed: int) -> dict[int, Experts]:
    """What people say, by pair, as the merge rule takes it: studies, then reviews, if enough agree."""
    people = Annotator.objects.filter(
        Q(kind=Annotator.Kind.PERSON) | Q(kind=Annotator.Kind.MERGE, config__has_key="study")
    ).exclude(pk__in=[annotator.pk for annotator in hidden])
    known = {row.pk: (row.kind, row.config) for row in people}
    labels = Label.objects.filter(annotator__in=list(known), pair__in=given.candidates.values("pair"))
    labels = labels.exclude(scale__in=Label.GRADES).order_by("pair_id", "annotator_id", "round")
    columns = "pair_id", "annotator_id", "pk", "value", "assisted", "source"
    found = {}
    for pair, of_pair in groupby(labels.values_list(*columns).iterator(ROWS_A_READ), key=lambda row: row[0]):
        last = {row[1]: row[2:] for row in of_pair}
        said = [said_by(*known[annotator], *row) for annotator, row in last.items() if row[1] is not None]
        if said:
            counts = merge_statements(said, reviews_needed)
            found[pair] = Experts.FEW if counts is None else Experts(str(counts.value))
    return found


def said_by(
    kind: str, config: dict[str, object], label: int, value: int, assisted: bool, told: str
) -> AnnotatorStatement:
    """As the merge rule takes it: a merge has several people behind it."""
    source: Source = label_source_of(kind, config, assisted, told)
    return AnnotatorStatement(
        label, source, int(value > 0), FEWEST_REVIEWS if kind == Annotator.Kind.MERGE else 1
    )
