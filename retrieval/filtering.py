"""What each filter would keep of a collection, and what not: named steps with counts and examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import tee
from typing import Any, Final, TypeAlias

from django.db.models import Count

from retrieval.corpus import evenly
from retrieval.filters import Rule, Unreadable, parse, untestable
from retrieval.filters.licences import Standing, standing
from retrieval.filters.queries import NAMES, NO_QUERY_RULE, QueryRule, broken, chosen
from retrieval.filters.steps import Refusals
from retrieval.models import Collection, Member
from retrieval.models.collections import MemberQuerySet
from retrieval.sources import extraction
from retrieval.sources.files import SourceFile
from retrieval.sources.python_or_not import Detector, refused

Figures: TypeAlias = Mapping[str, Any]
Report: TypeAlias = Callable[[str, int, int], None]
"""Called with (what is done, members done, all of them)."""

GROUPS_SHOWN = 3
READ_AT_ONCE = 500
NOT_PASSED_ON: Final[Mapping[Standing, str]] = {
    Standing.FORBIDDEN: "a licence that is not known to allow passing on",
    Standing.UNSTATED: "no stated licence",
}
"""The steps of the licence filter."""


@dataclass
class Steps:
    """What the filters of snippets, but for duplicates, made of `total` members."""

    total: int = 0
    kept: dict[Rule, int] = field(default_factory=lambda: dict.fromkeys(Rule, 0))
    variants: Refusals = field(default_factory=Refusals)
    untestable: Refusals = field(default_factory=Refusals)
    codesearchnet: Refusals = field(default_factory=Refusals)
    python: Refusals = field(default_factory=Refusals)
    redistributable: Refusals = field(default_factory=Refusals)

    def take(self, member: Member, detector: Detector | None) -> None:
        """Count one member."""
        self.total += 1
        rules, example, code = Rule(member.rules), shown(member), member.text.text
        for rule in Rule:
            self.kept[rule] += rule in rules
            if rule not in rules:
                self.variants.refuse(named(rule), example)
        for steps, reason in (
            (self.untestable, untestable(code)),
            (self.codesearchnet, codesearchnet_step(member)),
            (self.python, refused(code, detector)),
        ):
            if reason:
                steps.refuse(str(reason), example)
        if reason := licence_step(member):
            self.redistributable.refuse(reason, f"{member.licence} {example}".strip())


def of_snippets(
    snippets: Collection, detector: Detector | None = None, report: Report | None = None
) -> Figures:
    """For each filter: how many it keeps, and its steps with how many each refused and examples."""
    told = report or (lambda what, done, total: None)
    steps = counted(ticking(members(snippets), "read", snippets.size, told), detector)
    return {
        "collection": str(snippets),
        "snippets": steps.total,
        **figures(steps),
        "duplicates": duplicates(snippets, steps.total, told),
    }


def ticking(rows: Iterator[Member], what: str, total: int, told: Report) -> Iterator[Member]:
    """The same rows, told of one by one."""
    for done, row in enumerate(rows, 1):
        yield row
        told(what, done, total)


def variants(snippets: Collection) -> dict[str, int]:
    """How many members pass each variant of the testable-function rule, by its name. One statement."""
    rows = snippets.members.order_by().values("rules").annotate(count=Count("pk"))
    found = list(rows.values_list("rules", "count"))
    return {named(rule): sum(count for rules, count in found if rules & rule) for rule in Rule}


def standings(members: MemberQuerySet) -> Counter[Standing]:
    """Members by what their licence says of passing on; the database counts them by licence."""
    found = Counter[Standing]()
    for licence, count in members.order_by().values_list("licence").annotate(Count("pk")):
        found[standing(licence)] += count
    return found


def sample_of_snippets(snippets: Collection, most: int) -> Figures:
    """The same without duplicates, of an even sample by position."""
    return figures(counted(sampled(snippets, evenly(snippets.size, most)), None))


def sampled(snippets: Collection, places: list[int]) -> Iterator[Member]:
    """Yield the members at some positions."""
    for start in range(0, len(places), READ_AT_ONCE):
        rows = snippets.members.filter(position__in=places[start : start + READ_AT_ONCE])
        yield from rows.order_by("position").select_related("text__body")


def counted(rows: Iterator[Member], detector: Detector | None) -> Steps:
    steps = Steps()
    for member in rows:
        steps.take(member, detector)
    return steps


def figures(steps: Steps) -> Figures:
    return {
        "testable": {
            named(rule): {"kept": steps.kept[rule], **step(steps.variants, named(rule))} for rule in Rule
        },
        "not testable": {name: step(steps.untestable, name) for name in steps.untestable.steps},
        "python": kept_of(steps.total, steps.python),
        "codesearchnet": kept_of(steps.total, steps.codesearchnet),
        "redistributable": kept_of(steps.total, steps.redistributable),
    }


def kept_of(total: int, refusals: Refusals) -> Figures:
    """What is left after steps of which each member is refused by one at most."""
    kept = total - sum(one.refused for one in refusals.steps.values())
    return {"kept": kept, "steps": {name: step(refusals, name) for name in refusals.steps}}


def step(refusals: Refusals, name: str) -> Figures:
    found = refusals.steps.get(name)
    return {"refused": found.refused if found else 0, "examples": found.examples if found else []}


def members(collection: Collection) -> Iterator[Member]:
    """Yield all members in order, a few by each statement.

    On SQLite nothing can be written beside an open statement once another process has written.
    """
    rows, after = collection.members.order_by("position").select_related("text__body"), -1
    while page := list(rows.filter(position__gt=after)[:READ_AT_ONCE]):
        yield from page
        after = page[-1].position


def shown(member: Member) -> str:
    """A member as an example: what it is called, and its first line."""
    return f"{member.source_id}: {member.text.head.strip().splitlines()[0]}"


def named(rule: Rule) -> str:
    return str(rule.name).lower().replace("_", " ")


def codesearchnet_step(member: Member) -> str | None:
    """The first of CodeSearchNet's rules that a Python snippet breaks; None for one that it would keep."""
    code = member.text.text
    try:
        parse(code)
    except Unreadable:
        return "does not parse"
    path, within, _ = member.source_id.partition("::")
    is_path = within or "/" in path  # other ids, such as test-12 of a data set, are no place in a source
    file = SourceFile(path if is_path else "", code.encode(), "", "")
    function = next(extraction.functions_of(file, "python"), None)
    return extraction.broken(function) if function else "no function"


def licence_step(member: Member) -> str | None:
    """Why a snippet is not known to be one that may be passed on; None for one that may."""
    return NOT_PASSED_ON.get(standing(member.licence))


def duplicates(snippets: Collection, total: int, told: Report) -> Figures:
    """Groups of exact and near duplicates; the first by position stands for its group."""
    from retrieval.filters.duplicates import groups  # loads NumPy

    rows = ticking(members(snippets), "read for duplicates", total, told)
    found = groups((row.text.text for row in rows), lambda done, of: told("compared", done, of))
    repeated = sum(len(group) - 1 for group in found)
    largest = sorted(found, key=len, reverse=True)[:GROUPS_SHOWN]
    places = {place for group in largest for place in group[:3]}
    names = dict(snippets.members.filter(position__in=places).values_list("position", "source_id"))
    return {
        "kept": total - repeated,
        "refused": repeated,
        "groups": len(found),
        "examples": [[names.get(place, str(place)) for place in group[:3]] for group in largest],
    }


def of_queries(queries: Collection) -> Figures:
    """Each rule of queries by itself, and what all of them together would keep."""
    refusals, kept, total = Refusals(), 0, 0
    texts, again = tee(member.text.text for member in members(queries))
    for text, rules in zip(texts, broken(again), strict=True):
        total, kept = total + 1, kept + (rules == NO_QUERY_RULE)
        for rule in rules:
            refusals.refuse(NAMES[rule], text)
    return {
        "collection": str(queries),
        "queries": total,
        "kept": kept,
        "steps": {name: step(refusals, name) for name in NAMES.values()},
    }


def positions(queries: Collection, rule: QueryRule) -> list[int]:
    """The positions of the queries that pass `rule`, ascending."""
    rows = queries.members.order_by("position")
    if not rule:
        return list(rows.values_list("position", flat=True))
    found, again = tee(members(queries))
    passing = chosen((member.text.text for member in again), rule)
    return [member.position for member, passes in zip(found, passing, strict=True) if passes]
