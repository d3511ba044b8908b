"""`manage.py missing show|write|export`: queries without a match, from the command line."""

from __future__ import annotations

import json
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import CommandError, CommandParser

from annotation.actors import AtShell
from annotation.estimating.figures import Range
from annotation.launching import LaunchRefused
from annotation.management import agreeing
from annotation.management.commands.exchange import find
from annotation.missing import counting, ordering, written
from annotation.missing.orders import TRIES, FillOrder
from annotation.models import Build
from annotation.models.builds import NANO
from retrieval.hostile import clean
from retrieval.management.light import LightCommand


class Command(LightCommand):
    help = (
        "Queries of a build without a match. 'show' counts them; 'write' has a function written and tested "
        "for each, which experts then decide about; 'export' writes the accepted ones with their provenance."
    )

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
        action.add_argument(
            "--provider",
            choices=Build.Provider.values,
            default="exchange",
            help="who answers (default %(default)s)",
        )
        action.add_argument("--recorded", default="", help="file of recorded replies")
        action.add_argument("--model", default="", help="default: the build's")
        action.add_argument("--budget", help="dollars; default: no cap")
        action.add_argument("--unpriced", action="store_true", help="ask live although no price is entered")
        action.add_argument("--tries", type=int, default=TRIES, help="functions a query at most")
        action.add_argument("--limit", type=int, help="queries at most, drawn at random (default: all)")
        action.add_argument(
            "--at-once", default="", metavar="WHY", help="do without a small job before a large live one"
        )
        action.add_argument("--unjudged", action="store_true", help="also where candidates were abandoned")
        action.add_argument("--why", default="", help="why it is ordered; kept in the job's history")
        action.add_argument("--price", action="store_true", help="only say what it would take")
        agreeing.add_argument(action)

    def handle(self, *args: Any, **options: Any) -> None:
        build = find(options["build"])
        if options["action"] == "show":
            self.show(build)
        elif options["action"] == "write":
            self.order(order_of(build, options), options)
        else:
            self.export(build, options["out"])

    def show(self, build: Build) -> None:
        told = counting.standing(build)
        self.stdout.write(
            f"{told.queries:,} queries: {told.matched:,} with a match, {told.without:,} without, "
            f"{told.unjudged:,} that nobody knows of, {told.open:,} open, {told.covered:,} written for"
        )

    def order(self, order: FillOrder, options: dict[str, Any]) -> None:
        try:
            ordering.refuse_bad(order)
            word = self.priced(order)
            if options["price"]:
                return
            agreeing.agree(order.provider, options)
            made = ordering.launch(order, AtShell.now(), word)
        except LaunchRefused as why:
            raise CommandError(str(why)) from why
        self.stdout.write(f"Ordered as build {made.pk}, {made.name}. Is a worker running?")

    def priced(self, order: FillOrder) -> str:
        """Say what it may take; the word that launches it on that."""
        found = ordering.price(order)
        dollars = "no price is known"
        if found.cost is not None:
            cost = found.cost * Range.of(1 / NANO)
            dollars = f"${cost.expected:,.4f} (${cost.low:,.4f} to ${cost.high:,.4f})"
        self.stdout.write(f"{found.queries:,} functions, about {found.calls.expected:,.0f} calls: {dollars}")
        return ordering.word_of(order, found)

    def export(self, build: Build, out: str) -> None:
        if out == "-":
            count = write_lines(build, sys.stdout)
        else:
            with Path(out).open("w", encoding="utf-8") as stream:
                count = write_lines(build, stream)
        self.stderr.write(f"{count:,} accepted functions", str)  # plain: it is no error


def write_lines(build: Build, stream: TextIO) -> int:
    count = 0
    for line in written.exported(build):
        stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        count += 1
    return count


def order_of(build: Build, options: dict[str, Any]) -> FillOrder:
    """The order. Raises CommandError for a budget that is no number."""
    try:
        budget = Decimal(options["budget"]) if options["budget"] else None
    except InvalidOperation as error:
        raise CommandError(f"The budget is in dollars, not {options['budget']!r}.") from error
    return FillOrder(
        of=build,
        name=options["name"],
        provider=options["provider"],
        recorded=options["recorded"],
        model=options["model"] or build.model,
        budget=budget,
        unpriced=options["unpriced"],
        tries=options["tries"],
        unjudged=options["unjudged"],
        limit=options["limit"],
        at_once=clean(options["at_once"]),
        why=clean(options["why"]),
    )
