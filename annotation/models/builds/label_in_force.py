"""The label in force of a case: what the merge rule makes of the agents' verdict and of what people say.

Lists, counts and pages show it; publishing asks the same rule. Imported labels have no part in it: publishing
takes them only where nothing here gives a label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.db import connection

from retrieval.evaluation.merge_rule import FEWEST_REVIEWS, AnnotatorStatement, merge_statements
from retrieval.models import Annotator, Label, Source, label_source_of

AnnotatorWords = tuple[str, Mapping[str, Any]]
"""An annotator's kind and configuration."""
PEOPLE: Final = (Annotator.Kind.PERSON, Annotator.Kind.MERGE)
"""The kinds of annotators that are people, or studies of people."""
ASKED_PEOPLE: Final = """SELECT 1 FROM retrieval_label said
  JOIN retrieval_annotator who ON who.id = said.annotator_id
WHERE said.pair_id = %s AND who.kind IN (%s, %s) LIMIT 1"""
AGENTS: Final = 0
"""The id of no label: what stands for the agents' own in the rule."""


@dataclass(frozen=True, slots=True)
class LabelInForce:
    """The label that counts for a case, and where it comes from; both None where nobody gave one.

    `agents` is what the agents said; `matches` and `no_matches` count the experts behind each label.
    """

    label: int | None
    source: Source | None
    agents: int | None
    matches: int = 0
    no_matches: int = 0
    reviews_needed: int = FEWEST_REVIEWS

    @property
    def is_overruled(self) -> bool:
        """Whether people's label counts instead of another one of the agents."""
        return self.agents is not None and self.label != self.agents


def find_label_in_force(
    agents: int | None, people: Sequence[AnnotatorStatement], reviews_needed: int
) -> LabelInForce:
    """What counts of a case: `agents` is its own label, `people` what people and studies say of its pair."""
    own = [] if agents is None else [AnnotatorStatement(AGENTS, Source.AGENT, agents)]
    found = merge_statements([*people, *own], reviews_needed)
    votes = {value: sum_reviews(people, value) for value in (0, 1)}
    return LabelInForce(
        found.value if found else None,
        found.source if found else None,
        agents,
        votes[1],
        votes[0],
        reviews_needed,
    )


def sum_reviews(people: Sequence[AnnotatorStatement], value: int) -> int:
    """How many experts say that in reviews."""
    return sum(one.counts for one in people if one.source is Source.REVIEWS and one.value == value)


def list_standing_statements(
    last: Mapping[int, tuple[int | None, bool, int, str]],
    configs: Mapping[int, AnnotatorWords],
    *,
    agents: bool,
) -> Iterator[AnnotatorStatement]:
    """What each annotator says of a pair by its last label, where that is not empty and `agents` count.

    `last`: value, whether assisted, id and source of that label, by annotator.
    """
    for annotator, (value, assisted, label, told) in last.items():
        kind, config = configs[annotator]
        is_imported = (
            kind == Annotator.Kind.ORIGINAL
        )  # an imported file does not count as the people it names
        source = Source.ORIGINAL if is_imported else label_source_of(kind, config, assisted, told)
        if value is None or (source is Source.AGENT and not agents):
            continue
        counts = FEWEST_REVIEWS if kind == Annotator.Kind.MERGE else 1
        yield AnnotatorStatement(label, source, int(value > 0), counts)


def load_people_statements(pairs: Collection[int]) -> dict[int, list[AnnotatorStatement]]:
    """What people and studies say of these pairs now, by pair; one query."""
    columns = "pair_id", "annotator_id", "annotator__kind", "annotator__config"
    labels = Label.objects.filter(pair__in=pairs, annotator__kind__in=PEOPLE).exclude(scale__in=Label.GRADES)
    rows = labels.order_by("pair_id", "annotator_id", "round").values_list(
        *columns, "value", "assisted", "pk", "source"
    )
    found: dict[int, list[AnnotatorStatement]] = defaultdict(list)
    for pair, of_pair in groupby(rows, key=lambda row: row[0]):
        told = list(of_pair)
        configs = {row[1]: (row[2], row[3]) for row in told}
        last = {row[1]: row[4:] for row in told}
        found[pair] = list(list_standing_statements(last, configs, agents=False))
    return found


def has_people_labels(pair: int) -> bool:
    """Whether any person or study labelled the pair. Asked at each verdict, so it is plain SQL."""
    with connection.cursor() as cursor:
        cursor.execute(ASKED_PEOPLE, [pair, *(kind.value for kind in PEOPLE)])
        return cursor.fetchone() is not None


def count_label_in_force(before: int | None, after: int | None) -> dict[str, int]:
    """How a build's totals change where the label in force of a case does."""
    return {
        name: int(after == value) - int(before == value)
        for name, value in (("matches_in_force", 1), ("no_matches_in_force", 0))
    }
