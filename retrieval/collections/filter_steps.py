"""What each filter would keep of a collection, and what not: named steps with counts and examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import tee
from typing import Any, Final, TypeAlias

from django.db.models import Count

from retrieval.corpus import sample_places_evenly
from retrieval.filters import Rule, Unreadable, find_untestable_reason, parse_snippet
from retrieval.filters.queries import NAMES, NO_QUERY_RULE, QueryRule, find_broken_rules, flag_passing_queries
from retrieval.filters.steps import Refusals
from retrieval.licences import LicenseStanding, classify_licence
from retrieval.models import Collection, Member
from retrieval.models.collections import MemberQuerySet
from retrieval.sources.code import extraction
from retrieval.sources.code.files import SourceFile
from retrieval.sources.code.python_or_not import Detector, classify_non_python

Figures: TypeAlias = Mapping[str, Any]
Report: TypeAlias = Callable[[str, int, int], None]
"""Called with (what is done, members done, all of them)."""

GROUPS_SHOWN = 3
READ_AT_ONCE = 500
NOT_PASSED_ON: Final[Mapping[LicenseStanding, str]] = {
    LicenseStanding.FORBIDDEN: "a licence that is not known to allow passing on",
    LicenseStanding.UNSTATED: "no stated licence",
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
        rules, example, code = Rule(member.rules), format_member_example(member), member.text.text
        for rule in Rule:
            self.kept[rule] += rule in rules
            if rule not in rules:
                self.variants.refuse(format_rule_name(rule), example)
        for steps, reason in (
            (self.untestable, find_untestable_reason(code)),
            (self.codesearchnet, codesearchnet_step(member)),
            (self.python, classify_non_python(code, detector)),
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
    steps = count_filter_steps(
        report_member_progress(iterate_members(snippets), "read", snippets.size, told), detector
    )
    return {
        "collection": str(snippets),
        "snippets": steps.total,
        **build_filter_figures(steps),
        "duplicates": measure_duplicates(snippets, steps.total, told),
    }


def report_member_progress(rows: Iterator[Member], what: str, total: int, told: Report) -> Iterator[Member]:
    """The same rows, told of one by one."""
    for done, row in enumerate(rows, 1):
        yield row
        told(what, done, total)


def count_testable_variants(snippets: Collection) -> dict[str, int]:
    """How many members pass each variant of the testable-function rule, by its name. One statement."""
    rows = snippets.members.order_by().values("rules").annotate(count=Count("pk"))
    found = list(rows.values_list("rules", "count"))
    return {format_rule_name(rule): sum(count for rules, count in found if rules & rule) for rule in Rule}


def count_licence_standings(members: MemberQuerySet) -> Counter[LicenseStanding]:
    """Members by what their licence says of passing on; the database counts them by licence."""
    found = Counter[LicenseStanding]()
    for licence, count in members.order_by().values_list("licence").annotate(Count("pk")):
        found[classify_licence(licence)] += count
    return found


def sample_of_snippets(snippets: Collection, most: int) -> Figures:
    """The same without duplicates, of an even sample by position."""
    return build_filter_figures(
        count_filter_steps(sample_members(snippets, sample_places_evenly(snippets.size, most)), None)
    )


def sample_members(snippets: Collection, places: list[int]) -> Iterator[Member]:
    """Yield the members at some positions."""
    for start in range(0, len(places), READ_AT_ONCE):
        rows = snippets.members.filter(position__in=places[start : start + READ_AT_ONCE])
        yield from rows.order_by("position").select_related("text__body")


def count_filter_steps(rows: Iterator[Member], detector: Detector | None) -> Steps:
    steps = Steps()
    for member in rows:
        steps.take(member, detector)
    return steps


def build_filter_figures(steps: Steps) -> Figures:
    return {
        "testable": {
            format_rule_name(rule): {
                "kept": steps.kept[rule],
                **build_step_figures(steps.variants, format_rule_name(rule)),
            }
            for rule in Rule
        },
        "not testable": {name: build_step_figures(steps.untestable, name) for name in steps.untestable.steps},
        "python": kept_of(steps.total, steps.python),
        "codesearchnet": kept_of(steps.total, steps.codesearchnet),
        "redistributable": kept_of(steps.total, steps.redistributable),
    }


def kept_of(total: int, refusals: Refusals) -> Figures:
    """What is left after steps of which each member is refused by one at most."""
    kept = total - sum(step.refused for step in refusals.steps.values())
    return {"kept": kept, "steps": {name: build_step_figures(refusals, name) for name in refusals.steps}}


def build_step_figures(refusals: Refusals, name: str) -> Figures:
    found = refusals.steps.get(name)
    return {"refused": found.refused if found else 0, "examples": found.examples if found else []}


def iterate_members(collection: Collection) -> Iterator[Member]:
    """Yield all members in order, a few by each statement.

    On SQLite nothing can be written beside an open statement once another process has written.
    """
    rows, after = collection.members.order_by("position").select_related("text__body"), -1
    while page := list(rows.filter(position__gt=after)[:READ_AT_ONCE]):
        yield from page
        after = page[-1].position


def format_member_example(member: Member) -> str:
    """A member as an example: what it is called, and its first line."""
    return f"{member.source_id}: {member.text.head.strip().splitlines()[0]}"


def format_rule_name(rule: Rule) -> str:
    return str(rule.name).lower().replace("_", " ")


def codesearchnet_step(member: Member) -> str | None:
    """The first of CodeSearchNet's rules that a Python snippet breaks; None for one that it would keep."""
    code = member.text.text
    try:
        parse_snippet(code)
    except Unreadable:
        return "does not parse"
    path, within, _ = member.source_id.partition("::")
    is_path = within or "/" in path  # other ids, such as test-12 of a data set, are no place in a source
    file = SourceFile(path if is_path else "", code.encode(), "", "")
    function = next(extraction.functions_of(file, "python"), None)
    return extraction.find_broken_rule(function) if function else "no function"


def licence_step(member: Member) -> str | None:
    """Why a snippet is not known to be one that may be passed on; None for one that may."""
    return NOT_PASSED_ON.get(classify_licence(member.licence))


def measure_duplicates(snippets: Collection, total: int, told: Report) -> Figures:
    """Groups of exact and near duplicates; the first by position stands for its group."""
    from retrieval.filters.duplicates import find_duplicate_groups  # loads NumPy

    rows = report_member_progress(iterate_members(snippets), "read for duplicates", total, told)
    found = find_duplicate_groups(
        (row.text.text for row in rows), lambda done, of: told("compared", done, of)
    )
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
    texts, again = tee(member.text.text for member in iterate_members(queries))
    for text, rules in zip(texts, find_broken_rules(again), strict=True):
        total, kept = total + 1, kept + (rules == NO_QUERY_RULE)
        for rule in rules:
            refusals.refuse(NAMES[rule], text)
    return {
        "collection": str(queries),
        "queries": total,
        "kept": kept,
        "steps": {name: build_step_figures(refusals, name) for name in NAMES.values()},
    }


def find_query_positions(queries: Collection, rule: QueryRule) -> list[int]:
    """The positions of the queries that pass `rule`, ascending."""
    rows = queries.members.order_by("position")
    if not rule:
        return list(rows.values_list("position", flat=True))
    found, again = tee(iterate_members(queries))
    passing = flag_passing_queries((member.text.text for member in again), rule)
    return [member.position for member, passes in zip(found, passing, strict=True) if passes]
