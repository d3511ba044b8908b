"""Who is measured: rounds of builds, annotators with labels, files; several of one are its answerings."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from annotation.builds.results.annotator_comparison import LAST
from annotation.models import Build
from annotation.quality.answers import Answering, BenchEntry
from annotation.quality.calls import CallSpent, spent_by_calls
from annotation.quality.ground import NothingToMeasure
from annotation.quality.inputs.answer_sources import (
    Judged,
    read_annotator_labels,
    read_build_answers,
    read_file_labels,
)
from annotation.quality.inputs.files import GivenLabel
from annotation.quality.inputs.pair_lookup import PlacedPair
from annotation.quality.tokens import Counter
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.seals import refuse_unscored
from retrieval.models import Annotator


@dataclass(frozen=True)
class OfBuild:
    """A round of a build."""

    build: Build
    round: int

    @property
    def name(self) -> str:
        several = self.build.rounds > 1 or self.round > 1
        return f"{self.build.name}, round {self.round}" if several else self.build.name

    @property
    def annotator(self) -> Annotator:
        return self.build.annotator

    @property
    def same(self) -> str:
        """Alike for builds whose annotators differ in nothing but a salt, which makes them answer anew."""
        by = self.build.annotator
        config = {name: value for name, value in by.config.items() if name != "salt"}
        return json.dumps([by.kind, by.name, self.build.model, config], sort_keys=True)


@dataclass(frozen=True)
class OfAnnotator:
    """The labels of an annotator that are in the database: people, too."""

    annotator: Annotator
    round: int
    called: str

    @property
    def name(self) -> str:
        return self.called if self.round == LAST else f"{self.called}, round {self.round}"

    @property
    def same(self) -> str:
        return f"annotator {self.annotator.pk}"


@dataclass(frozen=True, eq=False)
class OfFile:
    """The labels of a file, from a system that lives elsewhere."""

    name: str
    labels: Mapping[str, GivenLabel]
    annotator: None = None

    @property
    def same(self) -> str:
        return f"file {id(self)}"


Source = OfBuild | OfAnnotator | OfFile


@dataclass(frozen=True)
class Group:
    """An annotator by all that it answered; without a `name` that of its source."""

    sources: tuple[Source, ...]
    name: str = ""

    @property
    def called(self) -> str:
        if self.name or len(self.sources) == 1:
            return self.name or self.sources[0].name
        by = self.sources[0].annotator
        return self.sources[0].name if by is None else f"{by.name} {by.version[:8]}"


def merge_entry_groups(groups: Iterable[Group]) -> tuple[Group, ...]:
    """The groups, those without a name joined where their annotators are the same. Names are told apart."""
    alike = defaultdict[str, list[Group]](list)
    for number, group in enumerate(groups):
        alike[f"named {number}" if group.name else group.sources[0].same].append(group)
    joined = [
        Group(tuple(dict.fromkeys(source for group in some for source in group.sources)), some[0].name)
        for some in alike.values()
    ]
    names = [group.called for group in joined]
    return tuple(
        Group(group.sources, f"{name} ({number})" if names.count(name) > 1 else name)
        for number, (group, name) in enumerate(zip(joined, names, strict=True), 1)
    )


def entries_of(
    groups: Sequence[Group], places: Sequence[PlacedPair], counters: Sequence[Counter]
) -> tuple[tuple[BenchEntry, ...], str]:
    """The annotators with all that they said, and what counted their tokens.

    Raises NothingToMeasure where one has nothing to say of any pair, or may not be held against another.
    """
    refuse_sealed(groups)
    read = {
        source: read_build_answers(source.build, source.round, places)
        for group in groups
        for source in group.sources
        if isinstance(source, OfBuild)
    }
    calls = {call for one in read.values() for many in one.calls.values() for call in many}
    spent, counted_by = spent_by_calls(calls, counters)
    entries = tuple(
        BenchEntry(group.called, tuple(answering_of(source, places, read, spent) for source in group.sources))
        for group in groups
    )
    for entry in entries:
        for many in entry.answerings:
            if not many.answers:
                raise NothingToMeasure(f"“{many.name}” has none of these pairs.")
    return entries, counted_by


def answering_of(
    source: Source,
    places: Sequence[PlacedPair],
    read: Mapping[OfBuild, Judged],
    spent: Mapping[int, CallSpent],
) -> Answering:
    """What one source said."""
    match source:
        case OfBuild():
            return read[source].answering(source.name, spent)
        case OfAnnotator():
            return read_annotator_labels(source.annotator, source.round, places, source.name)
        case OfFile():
            return read_file_labels(source.labels, source.name)


def refuse_sealed(groups: Sequence[Group]) -> None:
    """Raises NothingToMeasure where to hold two against each other is to score one on a sealed study."""
    known = {source.annotator for group in groups for source in group.sources if source.annotator is not None}
    for one, other in combinations(sorted(known, key=lambda by: by.pk), 2):
        try:
            refuse_unscored(one, other)
        except StudyRefused as why:
            raise NothingToMeasure(str(why)) from why
