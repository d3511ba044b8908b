"""`manage.py benchmark publish NAME --build BUILD|--mining ID`: a benchmark of labels, by the merge rule.

With `--corrects BENCHMARK` the labels of that one, corrected by a build that judged its pairs again.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation import correcting
from annotation.actors import AtShell
from annotation.management.benchmarks import find_benchmark
from annotation.models import Build
from annotation.releasing import Outlook, PublishRefused, Wish, outlook, publish
from retrieval.evaluation.merge_rule import WORDS
from retrieval.management.light import LightCommand
from retrieval.models import Benchmark, Mining, Pool


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
        one.add_argument(
            "--corrects",
            metavar="BENCHMARK",
            help="NAME or NAME@VERSION whose labels the build's given pairs correct: all others stay",
        )
        one.add_argument("--dry-run", action="store_true", help="count by source, and publish nothing")
        one.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["corrects"]:
            self.correct(options)
            return
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
        self.say(made)

    def correct(self, options: dict[str, Any]) -> None:
        """Publish the corrected labels of a benchmark as its next version."""
        if not options["build"]:
            raise CommandError("--corrects needs --build: the build that judged the given pairs.")
        build, wanted = build_named(options["build"]), benchmark_named(options["corrects"])
        try:
            seen = correcting.outlook(build, wanted)
            made = None
            if not options["dry_run"]:
                made = correcting.publish(build, wanted, options["name"], AtShell.now())
        except PublishRefused as why:
            raise CommandError(str(why)) from why
        if options["json"]:
            told = {**asdict(seen), "base": str(seen.base), "benchmark": str(made) if made else None}
            self.stdout.write(json.dumps(told))
            return
        self.stdout.write(told_correction(seen))
        self.say(made)

    def say(self, made: Benchmark | None) -> None:
        if made is None:
            self.stdout.write("Nothing was published (--dry-run).")
        else:
            self.stdout.write(f"benchmark {made}: {made.size:,} labels, sha256 {made.digest}")


def told_correction(seen: correcting.Outlook) -> str:
    """What becomes of the labels of the version before, in lines."""
    lines = [
        f"{seen.upheld:,} labels of {seen.base} upheld",
        f"{seen.corrected:,} corrected: {seen.to_match:,} to match, {seen.to_no_match:,} to no match",
        f"{seen.unjudged:,} could not be judged and keep their label",
    ]
    more = ((seen.added, "labels of pairs that had none"), (seen.others, "labels of other pairs stay"))
    return "\n".join(lines + [f"{count:,} {words}" for count, words in more if count])


def benchmark_named(told: str) -> Benchmark:
    """`NAME@VERSION`, or the newest of that name. Raises CommandError where there is none."""
    found = find_benchmark(told)
    if found is None:
        known = ", ".join(dict.fromkeys(Benchmark.objects.values_list("name", flat=True)[:20])) or "none yet"
        raise CommandError(f"There is no benchmark {told!r}; there are {known}.")
    return found


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
        "mining__queries", "mining__snippets", "given__benchmark", "annotator"
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
