"""`manage.py filters COLLECTION [--json]`: what each filter would keep of a collection, and what not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from retrieval.counting import counted
from retrieval.filtering import Figures, of_queries, of_snippets
from retrieval.models import Collection
from retrieval.sources.detector import magika


class Command(BaseCommand):
    help = (
        "Count what each filter would keep. Of snippets: the variants of the testable-function rule, Python "
        "or not, CodeSearchNet's rules for documented functions, exact and near duplicates. Of queries: "
        "English, bare identifiers, near-same ones. With examples of what each refuses."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("collection", help="name of a collection")
        parser.add_argument(
            "--kind", choices=Collection.Kind.values, default="snippets", help="of which kind (snippets)"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        name, kind = options["collection"], options["kind"]
        found = Collection.objects.filter(name=name, kind=kind).order_by("-version").first()
        if found is None:
            raise CommandError(f"There is no collection of {kind} called {name!r}; see --kind.")
        if kind == Collection.Kind.QUERIES:
            figures, told = of_queries(found), query_lines
        else:
            figures, told = of_snippets(found, magika()), lines
        self.stdout.write(json.dumps(figures) if options["json"] else "\n".join(told(figures)))


def lines(figures: Figures) -> list[str]:
    """The filters of snippets for people."""
    told = [f"{figures['collection']}: {counted(figures['snippets'], 'snippet')}"]
    for name, one in figures["testable"].items():
        told.append(f"  {one['kept']:,} are {name}")
    told.append(f"  {figures['testable']['testable']['refused']:,} are not testable:")
    told += steps(figures["not testable"])
    told.append(f"  {figures['python']['kept']:,} are Python that can stand alone; refused:")
    told += steps(figures["python"]["steps"])
    told.append(f"  {figures['codesearchnet']['kept']:,} would be in CodeSearchNet; refused:")
    told += steps(figures["codesearchnet"]["steps"])
    same = figures["duplicates"]
    told.append(
        f"  {same['kept']:,} without duplicates; {counted(same['groups'], 'group')} of more than one, such as"
    )
    told += [f"    {' = '.join(group)}" for group in same["examples"]]
    return told


def query_lines(figures: Figures) -> list[str]:
    """The filters of queries for people."""
    told = [
        f"{figures['collection']}: {counted(figures['queries'], 'query', 'queries')}",
        f"  {figures['kept']:,} pass; refused:",
    ]
    return told + list(steps(figures["steps"]))


def steps(refused: Mapping[str, Figures]) -> Iterator[str]:
    for name, one in refused.items():
        yield f"    {one['refused']:,} {name}"
        yield from (f"      {example}" for example in one["examples"])
