"""The rows of a study as the arrays that its figures are made of. Planted pairs never come in.

Only `Rating` is read for people, never `Review`: nothing assisted can enter a figure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

import numpy as np
from django.db.models import F, Model, Q, QuerySet

from annotation.agreement import Labels, Revisions, Sample, Stratum, blind_truth
from annotation.agreement import Study as Arrays
from annotation.agreement.figures import Flags, Floats
from annotation.models import Adjudication, Assignment, Condition, Enrolment, Quota, Rating, Study, StudyPair
from annotation.studies.sampling import drawing
from retrieval.models import Annotator, Label

MATCH_AT: Final[Mapping[str, float]] = {
    Study.Scale.BINARY: 1.0,
    Study.Scale.STEPS: 2.0,
    Study.Scale.GRADED: 2.0,
    Study.Scale.PREFERENCE: 1.0,
}
"""From which value of a scale on a label counts as a match."""
JUDGES: Final = (
    Annotator.Kind.AGENTS,
    Annotator.Kind.SINGLE_LLM,
    Annotator.Kind.ORIGINAL,
    Annotator.Kind.MERGE,
)
Row = TypeVar("Row", bound=Model)
NOT_DRAWN: Final = -1
"""Stands for the number of a stratum of which the sample has no pair."""
SECOND: Final = {Rating.Phase.REVISED: True, Rating.Phase.SECOND_LOOK: False}


@dataclass(frozen=True, slots=True)
class Until:
    """A moment in a study's history: the last ids of what is appended, and whether all ratings were there.

    Raters that an amendment excludes later are left out all the same: the rows do not tell since when.
    """

    at: datetime
    rating: int
    label: int
    adjudication: int
    scoring: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Said:
    """What stands of one rater in one phase."""

    pair: int
    enrolment: int
    phase: str
    value: int | None
    swapped: bool


@dataclass(frozen=True, eq=False)
class Gathered:
    """A study's sampled pairs and all that was said of them. `pairs` are in the order of every array.

    `unscored` are versions that have judged pairs of a sealed study and are in no figure yet.
    """

    study: Study
    pairs: tuple[StudyPair, ...]
    said: tuple[Said, ...]
    skipped: frozenset[tuple[int, int]]
    enrolments: tuple[Enrolment, ...]
    conditions: tuple[Condition, ...]
    annotators: Mapping[Annotator, Mapping[int, int]]
    unscored: tuple[Annotator, ...]
    adjudicated: Mapping[int, int | None]
    complete: bool

    @property
    def match_at(self) -> float:
        return MATCH_AT[self.study.scale]

    @property
    def reference(self) -> str:
        """The name of the condition that counts as true: the first one where the named one is not there."""
        kinds = {condition.kind: condition.get_kind_display() for condition in self.conditions}
        return kinds.get(self.study.reference) or next(iter(kinds.values()))

    @property
    def sample(self) -> Sample:
        names = self.strata_names
        return Sample.of(
            [sampled.pair.query_id for sampled in self.pairs],
            [sampled.probability for sampled in self.pairs],
            [names.index(sampled.stratum) for sampled in self.pairs],
        )

    @property
    def strata_names(self) -> list[str]:
        """The sample's strata, in the order of their numbers in every array."""
        return sorted({sampled.stratum for sampled in self.pairs})


def gather(study: Study, until: Until | None = None) -> Gathered:
    """Everything that the figures of a study rest on: some ten reads, whatever its size. Writes nothing.

    `until` leaves out what was said later.
    """
    pairs = tuple(study.pairs.filter(planted="").select_related("pair").order_by("number"))
    counted = {sampled.pk for sampled in pairs}
    said, waiting = judged(study, until), unscored(study, until)
    return Gathered(
        study=study,
        pairs=pairs,
        said=tuple(one for one in standing(study, until) if one.pair in counted),
        skipped=skips(study, until),
        enrolments=tuple(study.enrolments.filter(excluded=False).order_by("pseudonym")),
        conditions=tuple(study.conditions.order_by("id")),
        annotators={one: labels for one, labels in said.items() if one not in waiting},
        unscored=waiting,
        adjudicated=decided(study, until),
        complete=until.complete if until else is_complete(study),
    )


def up_to(rows: QuerySet[Row], last: int | None) -> QuerySet[Row]:
    """Those with ids up to `last`; None: all."""
    return rows if last is None else rows.filter(pk__lte=last)


def standing(study: Study, until: Until | None = None) -> list[Said]:
    """The last revision of each assignment and phase of the latest round, unless it was taken back.

    Raters whom an amendment excludes are left out of every figure; their ratings stay.
    """
    rows = Rating.objects.filter(assignment__enrolment__study=study, assignment__enrolment__excluded=False)
    said = up_to(rows, until.rating if until else None).order_by("assignment__round", "id")
    columns = (
        "assignment__study_pair",
        "assignment__enrolment",
        "phase",
        "value",
        "assignment__swapped",
        "withdrawn",
    )
    last: dict[tuple[int, int, str], Said | None] = {}
    for pair, enrolment, phase, value, swapped, withdrawn in said.values_list(*columns):
        one = Said(pair, enrolment, phase, value, swapped)
        last[pair, enrolment, phase] = None if withdrawn else one
    return [one for one in last.values() if one]


def skips(study: Study, until: Until | None = None) -> frozenset[tuple[int, int]]:
    """The (study pair, enrolment) that a rater skipped."""
    rows = Assignment.objects.filter(enrolment__study=study, state=Assignment.State.SKIPPED)
    if until:
        rows = rows.filter(reserved_until__lte=until.at)  # a skip ends the reservation
    return frozenset(rows.values_list("study_pair", "enrolment"))


def judged(study: Study, until: Until | None = None) -> dict[Annotator, dict[int, int]]:
    """What each annotator that is no person said of the pairs (ids), in its first round with a label."""
    sampled = study.pairs.filter(planted="").values("pair")
    rows = Label.objects.filter(pair__in=sampled, annotator__kind__in=JUDGES)
    rows = up_to(rows.filter(assisted=False, value__isnull=False), until.label if until else None)
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for annotator, pair, value in rows.order_by("-round").values_list("annotator", "pair", "value"):
        found[annotator][pair] = int(value or 0)
    known = Annotator.objects.in_bulk(found)
    return {known[pk]: found[pk] for pk in sorted(found)}


def unscored(study: Study, until: Until | None = None) -> tuple[Annotator, ...]:
    """The annotator versions with labels of a sealed study's pairs that nobody has scored on it.

    Labels that came with the data are no version of anything; a study of comparisons scores nobody.
    """
    if study.purpose != Study.Purpose.SEALED or study.kind == Study.Kind.PAIRWISE:
        return ()
    sampled = study.pairs.filter(planted="").values("pair")
    labels = Label.objects.filter(pair__in=sampled, assisted=False, value__isnull=False)
    labels = up_to(labels, until.label if until else None)
    rows = Annotator.objects.filter(kind__in=JUDGES, pk__in=labels.values("annotator"))
    scored = up_to(study.scorings.all(), until.scoring if until else None)
    fresh = rows.exclude(kind=Annotator.Kind.ORIGINAL).exclude(pk__in=scored.values("annotator"))
    return tuple(fresh.order_by("pk"))


def decided(study: Study, until: Until | None = None) -> dict[int, int | None]:
    """The standing decision on each study pair (id) of the reference condition."""
    stands = Q(superseded_by=None)
    if until:
        stands |= Q(superseded_by__gt=until.adjudication)
    rows = Adjudication.objects.filter(stands, study_pair__study=study, condition__kind=study.reference)
    rows = up_to(rows, until.adjudication if until else None)
    return dict(rows.values_list("study_pair", "value"))


def is_complete(study: Study) -> bool:
    """Whether every rating that was planned has been given."""
    wanted = Quota.objects.filter(study_pair__study=study, study_pair__planted="")
    return wanted.exists() and not wanted.filter(done__lt=F("wanted")).exists()


def arrays(found: Gathered) -> Arrays:
    """What the figures are computed from. Raises BadLabels for a study without conditions."""
    adjudicated = [found.adjudicated.get(sampled.pk) for sampled in found.pairs]
    return Arrays(
        sample=found.sample,
        conditions=tuple(people(found, condition) for condition in found.conditions),
        annotators=tuple(annotator_labels(found, one) for one in found.annotators),
        reference=found.reference,
        adjudicated=matches(adjudicated, found.match_at) if any(found.adjudicated) else None,
        match_at=found.match_at,
        margin=found.study.margin,
        interim=not found.complete,
        comparisons=planned(found),
        build=strata(found),
        built_by=built_by(found),
    )


def planned(found: Gathered) -> tuple[tuple[str, str], ...]:
    """The plan's comparisons that are of two rows of the table; conditions may be named by their kind."""
    kinds = {condition.kind: condition.get_kind_display() for condition in found.conditions}
    rows = {*kinds.values(), "always 0", "always 1", *map(name_of, found.annotators)}
    named = [tuple(kinds.get(str(one), str(one)) for one in two) for two in found.study.comparisons]
    return tuple((two[0], two[1]) for two in named if len(set(two)) == 2 and rows.issuperset(two))


def matches(values: Sequence[int | None], at: float) -> Floats:
    return np.array([np.nan if value is None else float(value >= at) for value in values])


def people(found: Gathered, condition: Condition) -> Labels:
    """The blind labels of a condition's raters, under their pseudonyms."""
    raters = [one for one in found.enrolments if one.condition_id == condition.pk]
    values, skipped = grid(found, raters)
    names = tuple(one.pseudonym for one in raters)
    return Labels.of_people(condition.get_kind_display(), values, condition.raters, names, skipped)


def grid(found: Gathered, raters: Sequence[Enrolment]) -> tuple[Floats, Flags]:
    """Blind labels and skips of these raters: pairs × raters. Unsure is a skip: asked, and no label."""
    rows = {sampled.pk: row for row, sampled in enumerate(found.pairs)}
    columns = {one.pk: column for column, one in enumerate(raters)}
    values = np.full((len(rows), len(columns)), np.nan)
    skipped = np.zeros(values.shape, dtype=bool)
    for said in found.said:
        if said.phase == Rating.Phase.BLIND and said.enrolment in columns:
            place = rows[said.pair], columns[said.enrolment]
            values[place] = np.nan if said.value is None else said.value
            skipped[place] = said.value is None
    for pair, enrolment in found.skipped:
        if pair in rows and enrolment in columns:
            skipped[rows[pair], columns[enrolment]] = True
    return values, skipped


def annotator_labels(found: Gathered, annotator: Annotator) -> Labels:
    """An annotator's labels on the study's scale: its 1 is the least value that counts as a match."""
    said = found.annotators[annotator]
    ones = found.match_at
    labels = [said.get(sampled.pair_id) for sampled in found.pairs]
    values = [np.nan if label is None else (ones if label else 0.0) for label in labels]
    return Labels.of_annotator(name_of(annotator), values)


def name_of(annotator: Annotator) -> str:
    """The annotator as tables call it: its name, its model, and the beginning of its version."""
    model = annotator.config.get("model", "")
    words = f"{annotator.name}, {model}" if model else annotator.name
    return f"{words} ({annotator.version[:8]})"


def strata(found: Gathered) -> tuple[Stratum, ...]:
    """All labelled pairs of the build that was sampled, by stratum; nothing where there were several builds.

    Strata are as they were at the draw; before they were counted then, only a sample without any has one.
    """
    builds = list(found.study.builds.select_related("tally")[:2])
    if len(builds) != 1 or builds[0].rounds > 1:
        return ()
    kept = [drawing.Stratum(*one) for one in found.study.sample.get("strata", [])]
    tally = builds[0].tally
    if not any(one.labelled for one in kept):
        alone = not any(found.strata_names) and tally.settled
        return (Stratum(0, tally.settled, tally.matches),) if alone else ()
    numbers = {name: number for number, name in enumerate(found.strata_names)}
    return tuple(
        Stratum(numbers.get(one.name, NOT_DRAWN), one.labelled, one.matches) for one in kept if one.labelled
    )


def built_by(found: Gathered) -> str:
    """The name of the annotator whose labels the one build has."""
    builds = list(found.study.builds.select_related("annotator")[:2])
    return name_of(builds[0].annotator) if len(builds) == 1 else ""


def revisions(found: Gathered) -> Revisions | None:
    """Labels that were looked at again; None where there are none, or no label of an agent."""
    rows = {sampled.pk: row for row, sampled in enumerate(found.pairs)}
    columns = {one.pk: column for column, one in enumerate(found.enrolments)}
    before, _ = grid(found, found.enrolments)
    blind = Labels.of_people("blind", before, raters=tuple(one.pseudonym for one in found.enrolments))
    truth = blind_truth(blind.matches(found.match_at))
    agent = agent_labels(found)
    again = [said for said in found.said if said.phase in SECOND and said.value is not None]
    if not again or np.isnan(agent).all():
        return None
    places = [(rows[said.pair], columns[said.enrolment]) for said in again]
    return Revisions(
        pair=np.array([row for row, _ in places], dtype=np.int64),
        before=binary(np.array([before[place] for place in places]), found.match_at),
        after=binary(np.array([float(said.value or 0) for said in again]), found.match_at),
        agent=np.array([agent[row] for row, _ in places]),
        truth=np.array([truth[place] for place in places]),
        revealed=np.array([SECOND[Rating.Phase(said.phase)] for said in again]),
    )


def agent_labels(found: Gathered) -> Floats:
    """What raters are shown after reveal: the label in the build that a pair was drawn from."""
    shown = {one.pk: said for one, said in found.annotators.items()}
    drawn_from = dict(found.study.pairs.filter(case__isnull=False).values_list("pk", "case__annotator"))
    labels = [shown.get(drawn_from.get(one.pk, 0), {}).get(one.pair_id) for one in found.pairs]
    return np.array([np.nan if label is None else float(label) for label in labels])


def binary(values: Floats, at: float) -> Floats:
    return np.where(np.isnan(values), np.nan, (values >= at).astype(np.float64))


@dataclass(frozen=True, eq=False)
class Choices:
    """Choices between two snippets, one a row: its pair's query, 1 the first won, 0 the second, ½ a tie."""

    sample: Sample
    won: Floats
    first_left: Flags


def choices(found: Gathered) -> Choices:
    """The choices of a pairwise study."""
    queries = {sampled.pk: sampled.pair.query_id for sampled in found.pairs}
    said = [one for one in found.said if one.phase == Rating.Phase.BLIND and one.value is not None]
    return Choices(
        Sample.of([queries[one.pair] for one in said]),
        np.array([(float(one.value or 0) + 1) / 2 for one in said]),
        np.array([not one.swapped for one in said], dtype=bool),
    )
