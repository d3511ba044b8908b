"""`cosqa status`: how far builds and orders are, and what they wait for."""

from __future__ import annotations

import json
from typing import Any, Final

from django.core.management.base import CommandParser

from annotation.builds.results.progress import waiting_replies
from annotation.derived.missing_functions.unmatched_queries import advise_on_unmatched_queries
from annotation.management.lookups import find_build
from annotation.models import Build
from retrieval.management.light import LightCommand
from retrieval.models import Job
from retrieval.texts.plurals import count_noun

NEWEST: Final = 20


class Command(LightCommand):
    help = "Show how far builds and orders are, and what they wait for."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("build", nargs="?", help="name or id of one build (default: the newest)")
        parser.add_argument("--all", action="store_true", help=f"all builds, not the newest {NEWEST}")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["build"]:
            builds, jobs = [find_build(options["build"])], []
        else:
            rows = Build.objects.select_related("tally", "annotator")
            builds = list(rows if options["all"] else rows[:NEWEST])
            jobs = list(Job.objects.open())
        if options["json"]:
            found = {"builds": list(map(build_facts, builds)), "orders": list(map(job_facts, jobs))}
            self.stdout.write(json.dumps(found, ensure_ascii=False))
            return
        self.stdout.writelines(f"{describe_build(build)}\n" for build in builds)
        self.stdout.writelines(f"{describe_job(job)}\n" for job in jobs)
        if options["build"] and (advice := advise_on_unmatched_queries(builds[0])):
            self.stdout.write(advice)
        if not builds and not jobs:
            self.stdout.write("No build yet: 'cosqa build --help' shows how to launch one.")


def build_facts(build: Build) -> dict[str, Any]:
    """Cases by how far they are. In several rounds a pair has a case in each."""
    tally = build.tally
    return {
        "id": build.pk,
        "name": build.name,
        "state": build.state,
        "state_in_words": build.get_state_display(),
        "reason": build.reason,
        "rounds": build.rounds,
        "cases": tally.total,
        "settled": tally.settled,
        "abandoned": tally.abandoned,
        "matches": tally.matches_in_force,
        "waiting_replies": waiting_replies(build),
    }


def describe_build(build: Build) -> str:
    facts = build_facts(build)
    cases = count_noun(facts["cases"], "case")
    line = f"{build.name}: {facts['state_in_words']}, {facts['settled']:,} of {cases} settled"
    line += f", {facts['abandoned']:,} could not be judged" if facts["abandoned"] else ""
    line += f", {facts['matches']:,} matches"
    if facts["waiting_replies"]:
        line += f"; {count_noun(facts['waiting_replies'], 'request')} without a reply (cosqa exchange)"
    return f"{line}. {build.reason}".rstrip()


def job_facts(job: Job) -> dict[str, Any]:
    return {
        "id": job.pk,
        "kind": job.kind,
        "state": job.state,
        "done": job.done,
        "total": job.total,
        "message": job.message,
    }


def describe_job(job: Job) -> str:
    far = f", {job.done:,} of {job.total:,}" if job.total else ""
    return f"order {job.pk}, {job.get_kind_display()}: {job.get_state_display()}{far}. {job.message}".rstrip()
