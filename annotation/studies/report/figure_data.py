"""The rows of a study as the arrays that its figures are made of. Planted pairs never come in.

Only `Rating` is read for people, never `Review`: nothing assisted can enter a figure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple, TypeVar

import numpy as np
from django.db.models import F, Model, Q, QuerySet

from annotation.agents.single_llm import Criterion
from annotation.models import Adjudication, Assignment, Condition, Enrolment, Quota, Rating, Study
from annotation.review.tags import Tag, tag_name
from annotation.stats.agreement.figures import Flags, Floats
from annotation.stats.agreement.influence import Revisions
from annotation.stats.agreement.labels import Labels, blind_truth
from annotation.stats.agreement.page import Study as Arrays
from annotation.stats.agreement.prediction_powered import Stratum
from annotation.stats.agreement.sample import Sample
from annotation.studies.adjudication.latest_round import Rounds, rounds_of
from annotation.studies.adjudication.quorum import MATCH_AT
from annotation.studies.adjudication.verified_subset import ASSISTED
from annotation.studies.plan import row_names
from annotation.studies.plan.row_names import criterion_of, format_annotator_name
from annotation.studies.sampling import draw
from retrieval.models import Annotator
from retrieval.models.labels import is_match

Row = TypeVar("Row", bound=Model)
HALF_AT: Final = 1
"""From which value of the scale of steps on a rating says that at least half is there."""
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


class Sampled(NamedTuple):
    """What figures need of a sampled pair: `pk` is the study pair's, `pair_id` and `query_id` the pair's."""

    pk: int
    pair_id: int
    query_id: int
    probability: float
    stratum: str


class StandingStatement(NamedTuple):
    """What stands of one rater in one phase. A tuple, as studies have thousands."""

    pair: int
    enrolment: int
    phase: str
    value: int | None
    swapped: bool


@dataclass(frozen=True, eq=False)
class Gathered:
    """A study's sampled pairs and all that was said of them. `pairs` are in the order of every array.

    `tagged` are study pairs (ids) by a tag that one of their standing first labels carries. `unscored` are
    versions that have judged pairs of a sealed study and are in no figure yet. `annotators` are those that
    judge by `criterion`, of `every_annotator`.
    """

    study: Study
    pairs: tuple[Sampled, ...]
    said: tuple[StandingStatement, ...]
    skipped: frozenset[tuple[int, int]]
    enrolments: tuple[Enrolment, ...]
    conditions: tuple[Condition, ...]
    annotators: Mapping[Annotator, Mapping[int, int]]
    unscored: tuple[Annotator, ...]
    adjudicated: Mapping[int, int | None]
    complete: bool
    tagged: Mapping[str, frozenset[int]] = field(default_factory=dict)
    criterion: Criterion = Criterion.EXACT
    every_annotator: tuple[Annotator, ...] = ()

    @property
    def match_at(self) -> float:
        """The least value that is a match by the criterion."""
        is_half = self.criterion is Criterion.HALF and self.has_both_criteria
        return float(HALF_AT if is_half else MATCH_AT[self.study.scale])

    @property
    def has_both_criteria(self) -> bool:
        """Whether the raters' labels tell exact match and 50 % match."""
        return self.study.scale == Study.Scale.STEPS

    def by_criterion(self, criterion: Criterion) -> Gathered:
        """The same with the annotators that judge by this criterion, where raters were asked for both; else
        with all.
        """
        kept = {
            annotator: said
            for annotator, said in self.annotators.items()
            if not self.has_both_criteria or criterion_of(annotator) is criterion
        }
        return replace(self, annotators=kept, criterion=criterion, every_annotator=tuple(self.annotators))

    def by_criterion_of_builds(self) -> Gathered:
        """The same by the criterion of the builds that were sampled; by exact match where they differ."""
        builds = self.study.builds.select_related("annotator")
        criteria = {criterion_of(build.annotator) for build in builds}
        return self.by_criterion(criteria.pop() if len(criteria) == 1 else Criterion.EXACT)

    @property
    def reference(self) -> str:
        """The name of the condition that counts as true: the first one where the named one is not there."""
        kinds = {condition.kind: condition.get_kind_display() for condition in self.conditions}
        return kinds.get(self.study.reference) or next(iter(kinds.values()))

    @cached_property
    def sample(self) -> Sample:
        places = {name: place for place, name in enumerate(self.strata_names)}
        return Sample.of(
            [sampled.query_id for sampled in self.pairs],
            [sampled.probability for sampled in self.pairs],
            [places[sampled.stratum] for sampled in self.pairs],
        )

    @cached_property
    def strata_names(self) -> list[str]:
        """The sample's strata, in the order of their numbers in every array."""
        return sorted({sampled.stratum for sampled in self.pairs})


def gather_figure_data(study: Study, until: Until | None = None) -> Gathered:
    """Everything that the figures of a study rest on: some ten reads, whatever its size. Writes nothing.

    `until` leaves out what was said later.
    """
    columns = "pk", "pair_id", "pair__query_id", "probability", "stratum"
    rows = study.pairs.filter(planted="").order_by("number").values_list(*columns)
    pairs = tuple(Sampled(*row) for row in rows)
    counted = {sampled.pk for sampled in pairs}
    said, waiting = load_annotator_labels(study, until), find_unscored_versions(study, until)
    rounds = rounds_of(study, until.at if until else None)
    return Gathered(
        study=study,
        pairs=pairs,
        said=tuple(
            statement
            for statement in load_standing_statements(study, rounds, until)
            if statement.pair in counted
        ),
        skipped=load_skipped_pairs(study, rounds, until),
        enrolments=tuple(study.enrolments.filter(excluded=False).order_by("pseudonym")),
        conditions=tuple(study.conditions.order_by("id")),
        annotators={one: labels for one, labels in said.items() if one not in waiting},
        unscored=waiting,
        adjudicated=load_standing_decisions(study, rounds, until),
        complete=until.complete if until else is_complete(study),
        tagged=load_tagged_pairs(study, rounds, until),
    )


def up_to(rows: QuerySet[Row], last: int | None) -> QuerySet[Row]:
    """Those with ids up to `last`; None: all."""
    return rows if last is None else rows.filter(pk__lte=last)


def load_standing_statements(
    study: Study, rounds: Rounds, until: Until | None = None
) -> list[StandingStatement]:
    """The last revision of each assignment and phase of the pair's last round, unless it was taken back.

    Raters whom an amendment excludes are left out of every figure; their ratings stay.
    """
    rows = Rating.objects.counted().filter(assignment__enrolment__study=study)
    said = up_to(rows, until.rating if until else None).order_by("id")
    columns = (
        "assignment__study_pair",
        "assignment__enrolment",
        "phase",
        "value",
        "assignment__swapped",
        "withdrawn",
        "assignment__condition",
        "assignment__round",
    )
    last: dict[tuple[int, int, str], StandingStatement | None] = {}
    for pair, enrolment, phase, value, swapped, withdrawn, *place in said.values_list(*columns):
        if rounds.counts(pair, *place):
            one = StandingStatement(pair, enrolment, phase, value, swapped)
            last[pair, enrolment, phase] = None if withdrawn else one
    return [one for one in last.values() if one]


def load_tagged_pairs(study: Study, rounds: Rounds, until: Until | None = None) -> dict[str, frozenset[int]]:
    """Study pairs (ids) by tag, as the last revisions of first labels have them; mostly there are few."""
    rows = Rating.objects.counted().filter(assignment__enrolment__study=study)
    said = up_to(rows.filter(phase=Rating.Phase.BLIND), until.rating if until else None)
    touched = said.filter(assignment__study_pair__planted="").exclude(tags=[]).values("assignment")
    columns = "assignment", "assignment__study_pair", "assignment__condition", "assignment__round"
    last: dict[int, tuple[int, list[str]]] = {}
    for row in said.filter(assignment__in=touched).order_by("id").values_list(*columns, "tags", "withdrawn"):
        key, pair, condition, number, tags, withdrawn = row
        last[key] = (pair, [] if withdrawn or not rounds.counts(pair, condition, number) else tags)
    found: dict[str, set[int]] = defaultdict(set)
    for pair, tags in last.values():
        for tag in tags:
            found[tag].add(pair)
    return {tag: frozenset(pairs) for tag, pairs in found.items()}


def load_skipped_pairs(
    study: Study, rounds: Rounds, until: Until | None = None
) -> frozenset[tuple[int, int]]:
    """The (study pair, enrolment) that a rater skipped in the pair's last round."""
    rows = Assignment.objects.filter(enrolment__study=study, state=Assignment.State.SKIPPED)
    if until:
        rows = rows.filter(reserved_until__lte=until.at)  # a skip ends the reservation
    found = rows.order_by().values_list("study_pair", "enrolment", "condition", "round")
    return frozenset((pair, rater) for pair, rater, *place in found if rounds.counts(pair, *place))


def load_annotator_labels(study: Study, until: Until | None = None) -> dict[Annotator, dict[int, int]]:
    """What each annotator that is no person said of the pairs (ids), 1 or 0: its first round with a label."""
    rows = up_to(row_names.find_nonhuman_labels(study), until.label if until else None)
    found: dict[int, dict[int, int]] = defaultdict(dict)
    columns = "annotator", "pair", "value", "scale"
    for annotator, pair, value, scale in rows.order_by("-round").values_list(*columns):
        found[annotator][pair] = int(is_match(value or 0, scale))
    known = Annotator.objects.in_bulk(found)
    return {known[pk]: found[pk] for pk in sorted(found)}


def find_unscored_versions(study: Study, until: Until | None = None) -> tuple[Annotator, ...]:
    """The annotator versions with labels of a sealed study's pairs that nobody has scored on it.

    Labels that came with the data are no version of anything; a study of comparisons scores nobody.
    """
    if study.purpose != Study.Purpose.SEALED or study.kind == Study.Kind.PAIRWISE:
        return ()
    labels = up_to(row_names.find_nonhuman_labels(study), until.label if until else None)
    rows = Annotator.objects.filter(pk__in=labels.values("annotator"))
    scored = up_to(study.scorings.all(), until.scoring if until else None)
    fresh = rows.exclude(kind=Annotator.Kind.ORIGINAL).exclude(pk__in=scored.values("annotator"))
    return tuple(fresh.order_by("pk"))


def load_standing_decisions(
    study: Study, rounds: Rounds, until: Until | None = None
) -> dict[int, int | None]:
    """The standing decision on each study pair (id) of the reference condition, in the pair's last round."""
    stands = Q(superseded_by=None)
    if until:
        stands |= Q(superseded_by__gt=until.adjudication)
    rows = Adjudication.objects.filter(stands, study_pair__study=study, condition__kind=study.reference)
    rows = up_to(rows, until.adjudication if until else None)
    found = rows.values_list("study_pair", "condition", "at", "value")
    return {pair: value for pair, where, at, value in found if not rounds.is_outdated(pair, where, at)}


def is_complete(study: Study) -> bool:
    """Whether every rating that was planned has been given."""
    wanted = Quota.objects.filter(study_pair__study=study, study_pair__planted="")
    return wanted.exists() and not wanted.filter(done__lt=F("wanted")).exists()


def build_figure_arrays(found: Gathered) -> Arrays:
    """What the figures are computed from; by 50 % match raters' labels come as match or not.

    Raises BadLabels for a study without conditions.
    """
    adjudicated = np.array([found.adjudicated.get(sampled.pk) for sampled in found.pairs], dtype=np.float64)
    comparisons, _ = find_planned_comparisons(found)
    people = tuple(blind_labels_of_raters(found, condition) for condition in found.conditions)
    is_half = found.criterion is Criterion.HALF
    return Arrays(
        sample=found.sample,
        conditions=tuple(labels.matches(found.match_at) for labels in people) if is_half else people,
        annotators=tuple(annotator_labels(found, annotator) for annotator in found.annotators),
        reference=found.reference,
        adjudicated=binarize_scores(adjudicated, found.match_at) if any(found.adjudicated) else None,
        match_at=found.match_at,
        margin=found.study.margin,
        interim=not found.complete,
        comparisons=tuple(comparisons) if found.study.comparisons else None,
        build=load_label_strata(found),
        built_by=built_by(found),
        slices=build_tag_slices(found),
    )


def find_planned_comparisons(found: Gathered) -> tuple[list[tuple[str, str]], list[str]]:
    """The plan's comparisons as rows of the table, and why others have no two rows in it."""
    if not found.study.comparisons:
        return [], []
    everyone = found.every_annotator or tuple(found.annotators)
    rows = row_names.table_rows_of_annotators(found.study, everyone)
    resolved, problems = row_names.resolve_comparison_rows(rows, found.study.comparisons)
    others = {format_annotator_name(one) for one in everyone if one not in found.annotators}
    return [two for two in resolved if not others.intersection(two)], problems


def find_mixed_comparisons(found: Gathered) -> list[str]:
    """Planned comparisons of two annotators that judge by different criteria: no table has both."""
    named = {format_annotator_name(one): criterion_of(one) for one in found.annotators}
    return [
        f"{one} vs {other}: one judges by exact match, the other by 50 % match."
        for one, other in find_planned_comparisons(found)[0]
        if found.has_both_criteria and len({named[name] for name in (one, other) if name in named}) > 1
    ]


def build_tag_slices(found: Gathered) -> dict[str, Flags]:
    """The pairs that carry each tag, in the order of the tags' list."""
    return {
        tag_name(tag): np.array([pair.pk in found.tagged[tag] for pair in found.pairs], dtype=bool)
        for tag in Tag
        if tag in found.tagged
    }


def blind_labels_of_raters(found: Gathered, condition: Condition) -> Labels:
    """The blind labels of a condition's raters, under their pseudonyms."""
    raters = [enrolment for enrolment in found.enrolments if enrolment.condition_id == condition.pk]
    values, skipped = build_rater_matrix(found, raters)
    names = tuple(rater.pseudonym for rater in raters)
    return Labels.of_people(condition.get_kind_display(), values, condition.raters, names, skipped)


def build_rater_matrix(found: Gathered, raters: Sequence[Enrolment]) -> tuple[Floats, Flags]:
    """Blind labels and skips of these raters: pairs × raters. Unsure is a skip: asked, and no label."""
    rows = {sampled.pk: row for row, sampled in enumerate(found.pairs)}
    columns = {rater.pk: column for column, rater in enumerate(raters)}
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
    return Labels.of_annotator(format_annotator_name(annotator), values)


def load_label_strata(found: Gathered) -> tuple[Stratum, ...]:
    """All labelled pairs of the build that was sampled, by stratum; nothing where there were several builds.

    Strata are as they were at the draw; before they were counted then, only a sample without any has one.
    """
    builds = list(found.study.builds.select_related("tally")[:2])
    if len(builds) != 1 or builds[0].rounds > 1:
        return ()
    kept = [draw.Stratum(*one) for one in found.study.sample.get("strata", [])]
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
    return format_annotator_name(builds[0].annotator) if len(builds) == 1 else ""


def collect_label_revisions(found: Gathered) -> Revisions | None:
    """Labels that were looked at again; None where there are none, or no label of an agent."""
    again = [said for said in found.said if said.phase in SECOND and said.value is not None]
    if not again:
        return None
    agent = agent_labels(found)
    if np.isnan(agent).all():
        return None
    rows = {sampled.pk: row for row, sampled in enumerate(found.pairs)}
    columns = {enrolment.pk: column for column, enrolment in enumerate(found.enrolments)}
    before, _ = build_rater_matrix(found, found.enrolments)
    unaided = [not is_assisted(found, enrolment) for enrolment in found.enrolments]
    blind = Labels.of_people(
        "blind",
        np.where(unaided, before, np.nan),
        raters=tuple(enrolment.pseudonym for enrolment in found.enrolments),
    )
    truth = blind_truth(blind.matches(found.match_at))
    places = [(rows[said.pair], columns[said.enrolment]) for said in again]
    return Revisions(
        pair=np.array([row for row, _ in places], dtype=np.int64),
        before=binarize_scores(np.array([before[place] for place in places]), found.match_at),
        after=binarize_scores(np.array([float(said.value or 0) for said in again]), found.match_at),
        agent=np.array([agent[row] for row, _ in places]),
        truth=np.array([truth[place] for place in places]),
        revealed=np.array([SECOND[Rating.Phase(said.phase)] for said in again]),
    )


def is_assisted(found: Gathered, rater: Enrolment) -> bool:
    """Whether the rater saw something of the agents before the first label: it is no truth for anybody."""
    return any(
        condition.pk == rater.condition_id and condition.kind in ASSISTED for condition in found.conditions
    )


def agent_labels(found: Gathered) -> Floats:
    """What raters are shown after reveal: the label in the build that a pair was drawn from."""
    shown = {one.pk: said for one, said in found.annotators.items()}
    drawn = found.study.pairs.filter(case__isnull=False).order_by()
    drawn_from = dict(drawn.values_list("pk", "case__annotator"))
    labels = [shown.get(drawn_from.get(pair.pk, 0), {}).get(pair.pair_id) for pair in found.pairs]
    return np.array([np.nan if label is None else float(label) for label in labels])


def binarize_scores(values: Floats, at: float) -> Floats:
    return np.where(np.isnan(values), np.nan, (values >= at).astype(np.float64))
