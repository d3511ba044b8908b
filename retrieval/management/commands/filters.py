"""`manage.py filters COLLECTION [--json]`: what each filter would keep of a collection, and what not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from django.core.management.base import BaseCommand, CommandError, CommandParser

from retrieval.filters import Rule, Unreadable, parse, untestable
from retrieval.filters.duplicates import groups
from retrieval.filters.steps import Refusals
from retrieval.models import Collection, Member
from retrieval.sources import extraction
from retrieval.sources.files import SourceFile

Figures: TypeAlias = Mapping[str, Any]
GROUPS_SHOWN = 3


class Command(BaseCommand):
    help = (
        "Count what each filter would keep: the variants of the testable-function rule, CodeSearchNet's "
        "rules for documented functions, exact and near duplicates; with examples of what each refuses."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("collection", help="name of a collection of snippets")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        kind = Collection.Kind.SNIPPETS
        found = Collection.objects.filter(name=options["collection"], kind=kind).order_by("-version").first()
        if found is None:
            raise CommandError(f"There is no collection of snippets called {options['collection']!r}.")
        figures = filtered(found)
        self.stdout.write(json.dumps(figures) if options["json"] else "\n".join(lines(figures)))


def filtered(snippets: Collection) -> Figures:
    """For each filter: how many it keeps, and its steps with how many each refused and examples."""
    kept, refusals, reasons = dict.fromkeys(Rule, 0), Refusals(), Refusals()
    documented, undocumented, total = 0, Refusals(), 0
    for member in members(snippets):
        total += 1
        rules, example = Rule(member.rules), shown(member)
        for rule in Rule:
            kept[rule] += rule in rules
            if rule not in rules:
                refusals.refuse(named(rule), example)
        if reason := untestable(member.text.text):
            reasons.refuse(reason, example)
        broken = codesearchnet_step(member)
        documented += broken is None
        if broken:
            undocumented.refuse(broken, example)
    return {
        "collection": str(snippets),
        "snippets": total,
        "testable": {named(rule): step(kept[rule], refusals, named(rule)) for rule in Rule},
        "not testable": {name: step(None, reasons, name) for name in reasons.steps},
        "codesearchnet": {
            "kept": documented,
            "steps": {name: step(None, undocumented, name) for name in undocumented.steps},
        },
        "duplicates": duplicates(snippets, total),
    }


def members(snippets: Collection) -> Iterator[Member]:
    return snippets.members.order_by("position").select_related("text__body").iterator(chunk_size=500)


def shown(member: Member) -> str:
    """A member as an example: what it is called, and its first line."""
    return f"{member.source_id}: {member.text.head.strip().splitlines()[0]}"


def named(rule: Rule) -> str:
    return str(rule.name).lower().replace("_", " ")


def step(kept: int | None, refusals: Refusals, name: str) -> Figures:
    refused = refusals.steps.get(name)
    figures = {
        "refused": refused.refused if refused else 0,
        "examples": refused.examples if refused else [],
    }
    return figures if kept is None else {"kept": kept, **figures}


def codesearchnet_step(member: Member) -> str | None:
    """The first of CodeSearchNet's rules that a Python snippet breaks; None for one that it would keep."""
    code = member.text.text
    try:
        parse(code)
    except Unreadable:
        return "does not parse"
    file = SourceFile(member.source_id.partition("::")[0], code.encode(), "", "")
    function = next(extraction.functions_of(file, "python"), None)
    return extraction.broken(function) if function else "no function"


def duplicates(snippets: Collection, total: int) -> Figures:
    """Groups of exact and near duplicates; the first by position stands for its group."""
    found = groups(member.text.text for member in members(snippets))
    repeated = sum(len(group) - 1 for group in found)
    shown = sorted(found, key=len, reverse=True)[:GROUPS_SHOWN]
    places = {place for group in shown for place in group[:3]}
    names = dict(snippets.members.filter(position__in=places).values_list("position", "source_id"))
    return {
        "kept": total - repeated,
        "refused": repeated,
        "groups": len(found),
        "examples": [[names.get(place, str(place)) for place in group[:3]] for group in shown],
    }


def lines(figures: Figures) -> list[str]:
    """The same for people."""
    told = [f"{figures['collection']}: {figures['snippets']:,} snippets"]
    for name, one in figures["testable"].items():
        told.append(f"  {one['kept']:,} are {name}")
    told.append(f"  {figures['testable']['testable']['refused']:,} are not testable:")
    told += steps(figures["not testable"])
    told.append(f"  {figures['codesearchnet']['kept']:,} would be in CodeSearchNet; refused:")
    told += steps(figures["codesearchnet"]["steps"])
    same = figures["duplicates"]
    told.append(
        f"  {same['kept']:,} without duplicates, in {same['groups']:,} groups of more than one, such as"
    )
    told += [f"    {' = '.join(group)}" for group in same["examples"]]
    return told


def steps(refused: Mapping[str, Figures]) -> Iterator[str]:
    for name, one in refused.items():
        yield f"    {one['refused']:,} {name}"
        yield from (f"      {example}" for example in one["examples"])
