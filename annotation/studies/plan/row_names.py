"""What the rows of a study's main table are called, and which of them a plan's comparison means.

Annotators have long names (name, model, beginning of the version), which no plan could foresee. So a plan
may say *agents*, a name, or a name with its model, where that is one row; of several versions the one that
judged the build that the sample was drawn from is meant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Q, QuerySet

from annotation.agents.single_llm import Criterion
from annotation.builds.results.answering_models import list_answering_models
from annotation.models import Condition, Study
from annotation.studies.label_import.released_labels import (
    copies_of,
    find_annotator_copies,
    find_original_annotator,
    find_repeating_copies,
    planned_as,
    told_version,
)
from retrieval.models import Annotator, Label

JUDGES: Final = (
    Annotator.Kind.AGENTS,
    Annotator.Kind.SINGLE_LLM,
    Annotator.Kind.ORIGINAL,
    Annotator.Kind.MERGE,
    Annotator.Kind.SIMILARITY,
)
AGENTS: Final = "agents"
PUBLISHED_AS: Final = re.compile(r"study (\d{1,18}), plan ")
CONSTANTS: Final = ("always 0", "always 1")
CHUNK: Final = 5_000
"""Pairs a query: databases take only so many parameters."""


class UnknownRow(ValueError):
    """A name means no row of the table, or several; the message says which names there are."""


@dataclass(frozen=True)
class Rows:
    """The rows of a study's table: conditions as (kind, name), annotators, those among them that judged the
    builds of the sample.
    """

    conditions: tuple[tuple[str, str], ...]
    annotators: tuple[Annotator, ...]
    drawn_from: frozenset[int]

    def called(self, name: str) -> str:
        """The row that a plan means by `name`. Raises UnknownRow."""
        plain = name.strip().casefold()
        for kind, shown in self.conditions:
            if plain in {kind, shown.casefold()}:
                return shown
        if plain in CONSTANTS:
            return plain
        meant = [annotator for annotator in self.annotators if plain in aliases_of_annotator(annotator)]
        if len(meant) > 1:
            meant = [one for one in meant if one.pk in self.drawn_from] or meant
        if len(meant) == 1:
            return format_annotator_name(meant[0])
        raise UnknownRow(self.refusal(name, meant))

    def refusal(self, name: str, meant: Sequence[Annotator]) -> str:
        if meant:
            many = ", ".join(sorted(format_annotator_name(annotator) for annotator in meant))
            return f"“{name[:80]}” could be any of {many}: name one."
        return f"The main table has no row “{name[:80]}”. Its rows are {', '.join(self.names)}."

    @property
    def names(self) -> list[str]:
        """What a plan may say: the short name of a row where it has one."""
        kinds = [kind for kind, _ in self.conditions]
        agents = [annotator for annotator in self.annotators if annotator.kind == Annotator.Kind.AGENTS]
        return [
            *([AGENTS] if agents else []),
            *sorted(map(format_annotator_name, self.annotators)),
            *kinds,
            *CONSTANTS,
        ]

    def two(self, pair: Sequence[str]) -> tuple[str, str]:
        """The rows of one comparison. Raises UnknownRow, also where both are one row."""
        if len(pair) != 2:
            raise UnknownRow("A comparison is of two rows.")
        one, other = (self.called(str(name)) for name in pair)
        if one == other:
            raise UnknownRow(f"“{pair[0]}” and “{pair[1]}” are the same row: a comparison is of two.")
        return one, other


def aliases_of_annotator(annotator: Annotator) -> set[str]:
    """All that may stand for an annotator, in small letters."""
    found = {annotator.name}
    criterion = CRITERION_WORDS.get(annotator.config.get("criterion", ""), "")
    for whole in (
        format_annotator_name(annotator),
        join_annotator_name(annotator, list_answering_models(annotator)),  # before names had the criterion
        join_annotator_name(annotator, [ordered_model(annotator)]),
        join_annotator_name(annotator, [criterion]),
    ):
        found |= {whole, whole.rsplit(" (", 1)[0]}
    found |= {AGENTS} if annotator.kind == Annotator.Kind.AGENTS else set()
    return {one.casefold() for one in found}


CRITERION_WORDS: Final = {Criterion.EXACT.value: "exact match", Criterion.HALF.value: "50 % match"}


def criterion_of(annotator: Annotator) -> Criterion:
    """What counts as a match to it; all but a single LLM that is asked for half judge by exact match."""
    return Criterion(annotator.config.get("criterion", Criterion.EXACT))


def format_annotator_name(annotator: Annotator) -> str:
    """The annotator as tables call it: its name, its criterion where it has the choice, its model, and the
    beginning of its version.
    """
    criterion = CRITERION_WORDS.get(annotator.config.get("criterion", ""), "")
    return join_annotator_name(annotator, [criterion, *list_answering_models(annotator)])


def join_annotator_name(annotator: Annotator, more: Sequence[str]) -> str:
    """The name with this criterion and these models; of labels that came in a release, whose they are and
    its name.
    """
    given = str(annotator.config.get("annotator", "")) if told_version(annotator) else ""
    name = f"{given} in {annotator.name}" if given else annotator.name
    words = ", ".join([name, *filter(None, more)])
    return f"{words} ({annotator.version[:8]})"


def ordered_model(annotator: Annotator) -> str:
    """The model of the configuration: what a plan said before replies by file named theirs."""
    return str(annotator.config.get("model", ""))


def label_source_of_study(study: Study) -> str:
    """What labels say of their source that the study was published as."""
    return f"{published_as(study)}{study.plan_hash}"


def published_as(study: Study) -> str:
    """How every such source begins, also where the plan was amended since."""
    return f"study {study.pk}, plan "


def study_of_annotator(annotator: Annotator) -> Study | None:
    """The study whose published labels the annotator has, also where they came back in a release; None where
    it has others.
    """
    own = find_original_annotator(annotator)
    if own.kind != Annotator.Kind.MERGE or "study" not in own.config:
        return planned_as(annotator)
    sources = own.labels.order_by().values_list("source", flat=True)[:1]
    named = [PUBLISHED_AS.match(source) for source in sources]
    return Study.objects.filter(pk=int(named[0][1])).first() if named and named[0] else None


def said_by(study: Study) -> Q:
    """The labels that are the study's own decisions, published: they judge nothing, least of all itself."""
    own = Q(annotator__kind=Annotator.Kind.MERGE, source__startswith=published_as(study))
    return own | Q(annotator__in=copies_of(study))


def table_rows_of_annotators(study: Study, annotators: Iterable[Annotator]) -> Rows:
    """The rows where these annotators are in the table."""
    kinds = study.conditions.order_by("pk").values_list("kind", flat=True)
    return Rows(
        name_condition_rows(kinds),
        tuple(annotators),
        frozenset(study.builds.values_list("annotator", flat=True)),
    )


def name_condition_rows(kinds: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Conditions with the names of their rows."""
    return tuple((kind, str(Condition.Kind(kind).label)) for kind in kinds)


def find_nonhuman_labels(study: Study) -> QuerySet[Label]:
    """What others than people said of the sampled pairs, in all rounds, without what was published of it.

    On a sealed study a version's labels that came back in a release are no row of their own: they would be
    its figures, uncounted.
    """
    return judging_some(study, study.pairs.filter(planted="").values("pair"))


def judging_some(study: Study, pairs: QuerySet[Any, Any] | Sequence[int]) -> QuerySet[Label]:
    """The same of these pairs: of a study that isn't stored, too.

    A copy that came back in a release and repeats an annotator of this database is no second row.
    """
    rows = Label.objects.filter(pair__in=pairs, annotator__kind__in=JUDGES)
    rows = rows.filter(assisted=False, value__isnull=False).exclude(said_by(study))
    is_sealed = study.purpose == Study.Purpose.SEALED
    return rows.exclude(annotator__in=find_annotator_copies() if is_sealed else find_repeating_copies(pairs))


def find_plannable_rows(study: Study) -> Rows:
    """The rows that a plan can name: of all that judged the pairs, or build what the pairs are drawn from."""
    wanted = Q(pk__in=find_nonhuman_labels(study).values("annotator")) | Q(
        pk__in=study.builds.values("annotator")
    )
    return table_rows_of_annotators(study, find_judge_annotators(wanted))


def foreseen_of(study: Study, pairs: Sequence[int], kinds: Iterable[str], builders: Collection[int]) -> Rows:
    """The same of a study that isn't stored; `builders` are the annotators of its builds (ids)."""
    known = set(builders)
    for start in range(0, len(pairs), CHUNK):
        said = judging_some(study, pairs[start : start + CHUNK])
        known.update(said.order_by().values_list("annotator", flat=True).distinct())
    return Rows(
        name_condition_rows(kinds), tuple(find_judge_annotators(Q(pk__in=known))), frozenset(builders)
    )


def find_judge_annotators(wanted: Q) -> QuerySet[Annotator]:
    return Annotator.objects.filter(wanted, kind__in=JUDGES).order_by("pk")


def resolve_comparison_rows(
    rows: Rows, comparisons: Iterable[Sequence[str]]
) -> tuple[list[tuple[str, str]], list[str]]:
    """The rows of each comparison, once each, and why others are of no two rows."""
    found: dict[frozenset[str], tuple[str, str]] = {}
    problems = []
    for pair in comparisons:
        try:
            two = rows.two(pair)
        except UnknownRow as why:
            problems.append(f"{' vs '.join(map(str, pair))}: {why}")
        else:
            found.setdefault(frozenset(two), two)
    return list(found.values()), problems
