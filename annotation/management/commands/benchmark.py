"""`manage.py benchmark publish NAME --build BUILD|--mining ID`: a benchmark of labels, by the merge rule."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Build
from annotation.releasing import Outlook, PublishRefused, Wish, outlook, publish
from retrieval.evaluation.merge_rule import WORDS
from retrieval.management.light import LightCommand
from retrieval.models import Mining, Pool


class Command(LightCommand):
    help = (
        "Publish the pairs of a build, or of a mining, as the next version of a benchmark. Of each pair "
        f"counts {WORDS}. A published version never changes; publishing the same again gives the last one "
        "back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, parser_class=type(parser))
        one = actions.add_parser("publish", help="labels of a build's or mining's pairs, by the merge rule")
        one.add_argument("name", help="name of the benchmark")
        of = one.add_mutually_exclusive_group(required=True)
        of.add_argument("--build", help="name or id of the build whose pairs these are")
        of.add_argument("--mining", type=int, help="id of the mining: all its candidates")
        one.add_argument(
            "--pool",
            choices=Pool.values,
            default=Pool.COLLECTION.value,
            help="what systems search: the whole collection (default), or a query's candidates",
        )
        one.add_argument("--dry-run", action="store_true", help="count by source, and publish nothing")
        one.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        wish = wish_of(options)
        try:
            seen = outlook(wish)
            made = None if options["dry_run"] else publish(wish)
        except PublishRefused as why:
            raise CommandError(str(why)) from why
        if options["json"]:
            self.stdout.write(json.dumps(as_json(seen, str(made) if made else None)))
            return
        self.stdout.write(told(seen))
        if made is None:
            self.stdout.write("Nothing was published (--dry-run).")
        else:
            self.stdout.write(f"benchmark {made}: {made.size:,} labels, sha256 {made.digest}")


def wish_of(options: dict[str, Any]) -> Wish:
    """Raises CommandError where there is no such build or mining."""
    pool = Pool(options["pool"])
    if options["mining"] is not None:
        mining = Mining.objects.select_related("queries", "snippets").filter(pk=options["mining"]).first()
        if mining is None:
            raise CommandError(f"There is no mining {options['mining']}.")
        return Wish(options["name"], mining, pool=pool)
    build = build_named(options["build"])
    return Wish(options["name"], build.mining, build, pool)


def build_named(name: str) -> Build:
    """By its name, else by its id."""
    builds = Build.objects.filter(filling__isnull=True).select_related(
        "mining__queries", "mining__snippets", "annotator"
    )
    found = builds.filter(name=name).first()
    if found is None and name.isascii() and name.isdigit() and len(name) < 10:
        found = builds.filter(pk=int(name)).first()
    if found is None:
        known = (
            ", ".join(repr(one) for one in Build.objects.values_list("name", flat=True)[:20]) or "none yet"
        )
        raise CommandError(f"There is no build {name!r}; there are {known}.")
    return found


def as_json(seen: Outlook, benchmark: str | None) -> dict[str, Any]:
    by_source = {
        count.source.value: {"matches": count.matches, "no_matches": count.no_matches}
        for count in seen.counts
    }
    return {"benchmark": benchmark, "pairs": seen.pairs, "unjudged": seen.unjudged, "labels": by_source}


def told(seen: Outlook) -> str:
    lines = [
        f"{count.pairs:,} pairs from {count.source.label}: {count.matches:,} match, "
        f"{count.no_matches:,} do not"
        for count in seen.counts
    ]
    return "\n".join([*lines, f"{seen.unjudged:,} of {seen.pairs:,} pairs are unjudged, which is never a 0"])
