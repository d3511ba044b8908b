"""`manage.py missing show|write|export`: queries without a match, from the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import CommandParser

from annotation.builds.launch.order import LaunchRefused
from annotation.derived.missing_functions import accepted_functions, unmatched_queries
from annotation.derived.missing_functions.launch import plan_filling
from annotation.derived.missing_functions.orders import FillOrder
from annotation.management import derived_options
from annotation.management.lookups import find_build
from annotation.management.schema_options import add_schema_options
from annotation.models import Build
from annotation.schemas.derived.missing_functions import FillIn
from retrieval.management.light import LightCommand
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.texts.plurals import count_noun


class Command(LightCommand):
    help = (
        "Queries of a build without a match. 'show' counts them; 'write' has a function written and tested "
        "for each, which experts then decide about; 'export' writes the accepted ones with their provenance."
    )
    refusals = (LaunchRefused,)

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, parser_class=type(parser))
        for name, words in (
            ("show", "count them"),
            ("write", "order functions"),
            ("export", "accepted ones"),
        ):
            action = actions.add_parser(name, help=words)
            action.add_argument("build", help="name or id of the build")
            if name == "export":
                action.add_argument(
                    "--out", default="-", help="file to write; - is standard output (default)"
                )
            if name == "write":
                self.add_order(action)

    def add_order(self, action: CommandParser) -> None:
        action.add_argument("--name", required=True, help="of the job")
        derived_options.add_answering(action, default="exchange", like="(the model's default: the build's)")
        add_schema_options(action, FillIn, "tries", "limit", "at_once", "unjudged", "reason")
        action.add_argument("--price", action="store_true", help="only say what it would take")
        derived_options.add_agreement(action)

    def handle(self, *args: Any, **options: Any) -> None:
        build = find_build(options["build"])
        if options["action"] == "show":
            self.show(build)
        elif options["action"] == "write":
            self.order(order_of(build, options), options)
        else:
            self.export(build, options["out"])

    def show(self, build: Build) -> None:
        told = unmatched_queries.count_queries_by_match(build)
        self.stdout.write(
            f"{told.queries:,} queries: {told.matched:,} with a match, {told.without:,} without, "
            f"{told.unjudged:,} that nobody knows of, {told.open:,} open, {told.covered:,} written for"
        )

    def order(self, order: FillOrder, options: dict[str, Any]) -> None:
        plan = plan_filling(order)
        plan.refuse_bad()
        quote, price = derived_options.quote_plan(plan)
        self.stdout.write(f"{count_noun(len(plan.queries), 'function')}: {price}")
        if options["price"]:
            return
        made = derived_options.launch_plan(plan, quote, options)
        self.stdout.write(f"Ordered as build {made.pk}, {made.name}. Is a worker running?")

    def export(self, build: Build, out: str) -> None:
        if out == "-":
            count = write_lines(build, sys.stdout)
        else:
            with Path(out).open("w", encoding="utf-8") as stream:
                count = write_lines(build, stream)
        self.stderr.write(f"{count:,} accepted functions", str)  # plain: it is no error


def write_lines(build: Build, stream: TextIO) -> int:
    count = 0
    for line in accepted_functions.export_accepted_functions(build):
        stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        count += 1
    return count


def order_of(build: Build, options: dict[str, Any]) -> FillOrder:
    """The order. Raises CommandError for a budget that is no number."""
    same = ("name", "provider", "recorded", "unpriced", "tries", "unjudged", "limit")
    return FillOrder(
        of=build,
        model=options["model"] or build.model,
        budget=derived_options.parse_dollars(options["budget"]),
        at_once=mark_hostile_characters(options["at_once"]),
        **{name: options[name] for name in same},
    )
