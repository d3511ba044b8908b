"""`manage.py benchmark publish NAME --build BUILD|--mining ID`: a benchmark of labels, by the merge rule.

With `--corrects BENCHMARK` the labels of that one, corrected by a build that judged its pairs again.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.accounts.actors import AtShell
from annotation.builds.results.publication import (
    PublicationOutlook,
    PublishRefused,
    Wish,
    preview_publication,
    publish_benchmark,
    refuse_writing_job,
)
from annotation.derived import corrected_labels
from annotation.derived.missing_functions.unmatched_queries import advise_on_unmatched_queries
from annotation.management.lookups import find_build, find_mining
from annotation.models import Build
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.evaluation.merge_rule import merge_rule_words
from retrieval.management.light import LightCommand
from retrieval.models import Benchmark, Pool
from retrieval.texts.plurals import count_noun


class Command(LightCommand):
    help = (
        "Publish the pairs of a build, or of a mining, as the next version of a benchmark. Each "
        f"pair gets {merge_rule_words()}. A build may say that one review is enough. A published "
        "version never changes; publishing the same again gives the last one back."
    )
    refusals = (NoSuchBenchmark, PublishRefused)

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, parser_class=type(parser))
        one = actions.add_parser("publish", help="labels of a build's or mining's pairs, by the merge rule")
        one.add_argument("name", help="name of the benchmark")
        of = one.add_mutually_exclusive_group(required=True)
        of.add_argument("--build", help="name or id of the build whose pairs these are")
        of.add_argument("--mining", type=int, help="id of the mining: all its functions")
        one.add_argument(
            "--pool",
            choices=Pool.values,
            default=Pool.COLLECTION.value,
            help="what systems search: the whole collection (default), or the functions mined for a query",
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
        seen = preview_publication(wish)
        made = None if options["dry_run"] else publish_benchmark(wish)
        if options["json"]:
            self.stdout.write(json.dumps(serialize_publish_outlook(seen, str(made) if made else None)))
            return
        self.stdout.write(describe_publish_outlook(seen))
        self.say(made)
        if wish.build and (advice := advise_on_unmatched_queries(wish.build)):
            self.stderr.write(f"warning: {advice}")

    def correct(self, options: dict[str, Any]) -> None:
        """Publish the corrected labels of a benchmark as its next version."""
        if not options["build"]:
            raise CommandError("--corrects needs --build: the build that judged the given pairs.")
        build, wanted = judging_build(options["build"]), find_named_benchmark(options["corrects"])
        seen, made = corrected_labels.preview_correction(build, wanted), None
        if not options["dry_run"]:
            made = corrected_labels.publish_corrected_benchmark(build, wanted, options["name"], AtShell.now())
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


def told_correction(seen: corrected_labels.CorrectionOutlook) -> str:
    """What becomes of the labels of the version before, in lines."""
    lines = [
        f"{seen.upheld:,} labels of {seen.base} upheld",
        f"{seen.corrected:,} corrected: {seen.to_match:,} to match, {seen.to_no_match:,} to no match",
        f"{seen.unjudged:,} could not be judged and keep their label",
    ]
    more = ((seen.added, "labels of pairs that had none"), (seen.others, "labels of other pairs stay"))
    return "\n".join(lines + [f"{count:,} {words}" for count, words in more if count])


def wish_of(options: dict[str, Any]) -> Wish:
    """Raises CommandError where there is no such build or mining."""
    pool = Pool(options["pool"])
    if options["mining"] is not None:
        return Wish(options["name"], find_mining(options["mining"]), pool=pool)
    build = judging_build(options["build"])
    return Wish(options["name"], build.mining, build, pool)


def judging_build(name: str) -> Build:
    """One that judges pairs. Raises CommandError, and PublishRefused for one that writes functions."""
    related = "mining__queries", "mining__snippets", "pair_list__benchmark", "annotator"
    found = find_build(name, Build.objects.select_related(*related))
    refuse_writing_job(found)
    return found


def serialize_publish_outlook(seen: PublicationOutlook, benchmark: str | None) -> dict[str, Any]:
    by_source = {
        count.source.value: {"matches": count.matches, "no_matches": count.no_matches}
        for count in seen.counts
    }
    return {
        "benchmark": benchmark,
        "pairs": seen.pairs,
        "unjudged": seen.unjudged,
        "out_of_reach": seen.out_of_reach,
        "labels": by_source,
    }


def describe_publish_outlook(seen: PublicationOutlook) -> str:
    lines = [
        f"{count.pairs:,} pairs from {count.source.label}: {count.matches:,} match, "
        f"{count.no_matches:,} do not"
        for count in seen.counts
    ]
    lines.append(f"{seen.unjudged:,} of {seen.pairs:,} pairs are unjudged; that is never a 0")
    if seen.out_of_reach:
        functions = count_noun(seen.out_of_reach, "function")
        lines.append(
            f"warning: the build did not search {functions}: where a system finds one, no label is there"
        )
    return "\n".join(lines)
