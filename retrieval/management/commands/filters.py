"""`manage.py filters COLLECTION [--make NAME]`: what each filter would keep; or keep what passes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from django.core.management.base import CommandError, CommandParser

from retrieval.collections import derivation
from retrieval.collections.derivation import QUERY_FILTERS, SNIPPET_FILTERS
from retrieval.collections.filter_steps import Figures, Report, of_queries, of_snippets
from retrieval.management.bars import open_bar
from retrieval.management.light import LightCommand
from retrieval.management.options import add_kind_option
from retrieval.models import Collection
from retrieval.sources.code.detector import load_magika
from retrieval.texts.plurals import count_noun


class Command(LightCommand):
    help = (
        "Count what each filter would keep. Of functions: the variants of the testable-function rule, Python "
        "or not, CodeSearchNet's rules for documented functions, licences known to allow passing on, exact "
        "and near duplicates. Of queries: English, bare identifiers, near-same ones. With examples of what "
        "each refuses. With --make: store what passes the filters of --pass as a collection of its own, for "
        "minings, evaluation and exports."
    )
    refusals = (derivation.NotMade,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("collection", help="name of a collection")
        add_kind_option(parser, "of which kind")
        parser.add_argument("--make", default="", metavar="NAME", help="store what passes as this collection")
        parser.add_argument(
            "--pass",
            dest="names",
            default="",
            metavar="FILTERS",
            help=f"comma-separated, with --make. Functions: {', '.join(SNIPPET_FILTERS)}. "
            f"Queries: {', '.join(QUERY_FILTERS)}",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        name, kind = options["collection"], options["kind"]
        found = Collection.objects.filter(name=name, kind=kind).order_by("-version").first()
        if found is None:
            raise CommandError(
                f"There is no collection of {Collection.Kind(kind).noun} called {name!r}; see --kind."
            )
        if bool(options["make"]) != bool(options["names"]):
            raise CommandError("A collection is made by --make NAME and --pass FILTERS together.")
        with open_bar(unit=" members") as bar:
            report = partial(advance_filter_bar, bar)
            if options["make"]:
                figures, told = self.make(found, options, report), made_lines
            elif kind == Collection.Kind.QUERIES:
                figures, told = of_queries(found), query_lines
            else:
                figures, told = of_snippets(found, load_magika(), report), format_snippet_filters
        self.stdout.write(json.dumps(figures) if options["json"] else "\n".join(told(figures)))

    def make(self, source: Collection, options: dict[str, Any], report: Report) -> Figures:
        names = [name.strip() for name in options["names"].split(",") if name.strip()]
        found = derivation.derive_collection(options["make"], source, names, load_magika(), report)
        return {"collection": str(found), "id": found.pk, "from": str(source), **(found.filtered or {})}


def advance_filter_bar(bar: Any, what: str, done: int, total: int) -> None:
    """Each stage from its own beginning."""
    if bar.disable:
        return
    if bar.desc != f"{what}: ":
        bar.reset(total)
        bar.set_description(what)
    bar.update(done - bar.n)


def made_lines(figures: Figures) -> list[str]:
    """What was made, for people."""
    told = [f"{figures['collection']}: {figures['kept']:,} of {figures['members']:,} of {figures['from']}"]
    told += [f"  {count:,} refused: {name}" for name, count in figures["refused"].items()]
    return told


def format_snippet_filters(figures: Figures) -> list[str]:
    """The filters of snippets for people."""
    told = [f"{figures['collection']}: {count_noun(figures['snippets'], 'function')}"]
    for name, variant in figures["testable"].items():
        told.append(f"  {variant['kept']:,} are {name}")
    told.append(f"  {figures['testable']['testable']['refused']:,} are not testable:")
    told += format_refusal_steps(figures["not testable"])
    told += format_filter_figures(figures["python"], "are Python that works on its own")
    told += format_filter_figures(figures["codesearchnet"], "would be in CodeSearchNet")
    told += format_filter_figures(figures["redistributable"], "may be passed on by their licence")
    same = figures["duplicates"]
    groups = (
        f"{count_noun(same['groups'], 'group')} of more than one{', such as' if same['examples'] else ''}"
    )
    told.append(f"  {same['kept']:,} without duplicates; {groups}")
    told += [f"    {' = '.join(group)}" for group in same["examples"]]
    return told


def format_filter_figures(figures: Figures, what: str) -> list[str]:
    """One filter: what passes, and by which steps it refused something."""
    refused = list(format_refusal_steps(figures["steps"]))
    return [f"  {figures['kept']:,} {what}{'; refused:' if refused else ''}", *refused]


def query_lines(figures: Figures) -> list[str]:
    """The filters of queries for people."""
    told = [
        f"{figures['collection']}: {count_noun(figures['queries'], 'query', 'queries')}",
        f"  {figures['kept']:,} pass; refused:",
    ]
    return told + list(format_refusal_steps(figures["steps"]))


def format_refusal_steps(refused: Mapping[str, Figures]) -> Iterator[str]:
    for name, step in refused.items():
        yield f"    {step['refused']:,} {name}"
        yield from (f"      {example}" for example in step["examples"])
