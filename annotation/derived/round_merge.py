"""From several rounds to one label a pair: named rules, and the labels of an annotator of their own.

A rule sees how many rounds said match and how many no match, never which, so their order can't matter. What
a rule leaves open stays unjudged: a tie is no "no match".

CoSQA+ (first version, RQ2) labels in three rounds and reports alpha between them, but no rule that makes one
label of three. Where people disagree it takes the majority: that rule comes first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotation.builds.control.pause_resume import ControlRefused
from annotation.builds.launch.launcher import Actor, account_of_actor, record_build_event
from annotation.builds.pipeline.labels import scale_of
from annotation.builds.results.rounds import RoundVerdicts, by_pair
from annotation.models import Build, Case, Merge
from retrieval.models import Annotator, Basis, Label

QUERIES_AT_ONCE: Final = 200
TURN_SECONDS: Final = 2.0


class Rule(StrEnum):
    MAJORITY = "majority"
    UNANIMOUS = "unanimous"
    ANY_MATCH = "any_match"
    ALL_MATCH = "all_match"


WORDS: Final[Mapping[Rule, tuple[str, str]]] = MappingProxyType(
    {
        Rule.MAJORITY: ("Majority", "The label that more than half of all rounds gave; a tie is unjudged."),
        Rule.UNANIMOUS: ("Unanimous", "The label that every round gave; anything else is unjudged."),
        Rule.ANY_MATCH: (
            "Any match",
            "A match if any round said so; no match if every round did.",
        ),
        Rule.ALL_MATCH: (
            "All match",
            "A match if every round said so; no match if any round did.",
        ),
    }
)
"""How a rule is called, and what it does."""


def majority_label(said: RoundVerdicts) -> int | None:
    """Of all rounds, also those that did not judge: one label of three is no majority."""
    if 2 * said.matches > said.rounds:
        return 1
    return 0 if 2 * said.no_matches > said.rounds else None


def unanimous_label(said: RoundVerdicts) -> int | None:
    if said.matches == said.rounds:
        return 1
    return 0 if said.no_matches == said.rounds else None


def any_match(said: RoundVerdicts) -> int | None:
    if said.matches:
        return 1
    return 0 if said.no_matches == said.rounds else None


def all_match(said: RoundVerdicts) -> int | None:
    if said.no_matches:
        return 0
    return 1 if said.matches == said.rounds else None


RULES: Final[Mapping[Rule, Callable[[RoundVerdicts], int | None]]] = MappingProxyType(
    {
        Rule.MAJORITY: majority_label,
        Rule.UNANIMOUS: unanimous_label,
        Rule.ANY_MATCH: any_match,
        Rule.ALL_MATCH: all_match,
    }
)


@dataclass(frozen=True, slots=True)
class MergeOutlook:
    """How many pairs a rule would label, and how many it would leave unjudged."""

    rule: Rule
    matches: int
    no_matches: int
    unjudged: int


def preview_merge(rule: Rule, said: Mapping[RoundVerdicts, int]) -> MergeOutlook:
    """What the rule makes of so many pairs of each kind."""
    found: dict[int | None, int] = {1: 0, 0: 0, None: 0}
    for one, pairs in said.items():
        found[RULES[rule](one)] += pairs
    return MergeOutlook(rule, found[1], found[0], found[None])


def annotator_of_merge_rule(build: Build, rule: Rule) -> Annotator:
    """The rule over so many rounds of the build's annotator, as an annotator of its own."""
    source = build.annotator
    config: dict[str, Any] = {
        "of": {"kind": source.kind, "name": source.name, "version": source.version},
        "rule": rule.value,
        "rounds": build.rounds,
    }
    if "criterion" in source.config:
        config["criterion"] = source.config["criterion"]
    return Annotator.objects.version(Annotator.Kind.MERGE, f"merged {source.name}", config)


def refuse_bad_merge(build: Build) -> None:
    """Raises ControlRefused for a build that has one round, or whose rounds are not at their end."""
    if build.rounds == 1:
        raise ControlRefused("The build has one round: there is nothing to merge.")
    if not build.is_over:
        state = build.get_state_display().lower()
        raise ControlRefused(f"The build is {state}: its rounds are merged once it is over.")


@transaction.atomic
def request_round_merge(build: Build, rule: Rule, user: Actor = None) -> Merge:
    """Note that the rounds are to be merged; a worker does it. Raises ControlRefused.

    Asking for what is under way already gives that one.
    """
    refuse_bad_merge(build)
    going = Merge.objects.filter(build=build, rule=rule, finished_at__isnull=True).first()
    if going:
        return going
    record_build_event(build, user, "merged", f"by the rule {rule.value}, over {build.rounds} rounds")
    return Merge.objects.create(
        build=build,
        rule=rule,
        annotator=annotator_of_merge_rule(build, rule),
        asked_by=account_of_actor(user),
    )


def list_waiting_merges() -> QuerySet[Merge]:
    """The merges that are not finished, the oldest first."""
    found = Merge.objects.filter(finished_at__isnull=True)
    return found.select_related("build", "annotator").order_by("pk")


def advance_waiting_merges() -> None:
    """Work on the merges that wait, for a moment: a beat has other chores, too."""
    ends = time.monotonic() + TURN_SECONDS
    while (row := list_waiting_merges().first()) and time.monotonic() < ends:
        advance_merge(row)


def advance_merge(row: Merge) -> None:
    """The next queries, whole, in one transaction; whoever comes second to them does nothing."""
    queries = Case.objects.filter(build=row.build_id, round=1, query__gt=row.after).order_by("query")
    ids = list(queries.values_list("query", flat=True).distinct()[:QUERIES_AT_ONCE])
    mine = Merge.objects.filter(pk=row.pk, after=row.after, finished_at__isnull=True)
    if not ids:
        mine.update(finished_at=timezone.now())
        return
    with transaction.atomic():
        if not mine.update(after=ids[-1]):
            return
        pairs, labels = labels_of(row, ids)
        Label.objects.bulk_create(labels, batch_size=1000)
        withdrawn = sum(label.value is None for label in labels)
        Merge.objects.filter(pk=row.pk).update(
            pairs=F("pairs") + pairs,
            new_or_changed=F("new_or_changed") + len(labels) - withdrawn,
            withdrawn=F("withdrawn") + withdrawn,
        )


def labels_of(row: Merge, queries: Iterable[int]) -> tuple[int, list[Label]]:
    """How many pairs these queries have, and the labels that differ from what stands, as the next round.

    A label that the rule gives no more is taken back by an empty one; nothing is overwritten.
    """
    wanted = list(queries)
    rule, scale = RULES[Rule(row.rule)], scale_of(row.annotator)
    before = standing_labels_of_queries(row.annotator, wanted)
    cases = Case.objects.filter(build=row.build_id, query__in=wanted)
    found = list(by_pair(cases, "pair", "matches", "no_matches"))
    made = []
    for pair, matches, no_matches in found:
        number, value = before.get(pair, (0, None))
        label = rule(RoundVerdicts(matches, no_matches, row.build.rounds))
        if label != value:
            source = f"merge {row.pk} of build {row.build_id}"
            made.append(
                Label(
                    pair_id=pair,
                    annotator=row.annotator,
                    round=number + 1,
                    value=label,
                    scale=scale,
                    source=source,
                    basis=Basis.MERGED,
                )
            )
    return len(found), made


def standing_labels_of_queries(
    annotator: Annotator, queries: Iterable[int]
) -> dict[int, tuple[int, int | None]]:
    """The last round and label of the annotator for the pairs of these queries, by pair."""
    said = Label.objects.filter(annotator=annotator, pair__query__in=queries).order_by("round")
    return {pair: (number, value) for pair, number, value in said.values_list("pair", "round", "value")}
