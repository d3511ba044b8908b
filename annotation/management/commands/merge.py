"""`manage.py merge NAME [--rule RULE]`: what each rule would make of a build's rounds; or merge them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.accounts.actors import AtShell
from annotation.builds.control.pause_resume import ControlRefused
from annotation.builds.results.rounds import rounds_of
from annotation.derived import round_merge
from annotation.derived.round_merge import WORDS, Rule, preview_merge
from annotation.management.lookups import find_build
from annotation.models import Build
from retrieval.management.light import LightCommand


class Command(LightCommand):
    help = (
        "Show what each rule would make of the rounds of a build; with --rule, merge them by it "
        "('cosqa serve' or 'cosqa admin work' does the work)."
    )
    refusals = (ControlRefused,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the build")
        parser.add_argument("--rule", choices=[rule.value for rule in Rule], help="merge by this rule")

    def handle(self, *args: Any, **options: Any) -> None:
        build = find_build(options["name"])
        if options["rule"] is None:
            self.show(build)
            return
        row = round_merge.request_round_merge(build, Rule(options["rule"]), AtShell.now())
        self.stdout.write(f"merge {row.pk} by {row.rule}: labels of annotator {row.annotator.version[:8]}")

    def show(self, build: Build) -> None:
        """Alpha, then each rule in a line."""
        found = rounds_of(build)
        if found.agreement and found.agreement.alpha.value is not None:
            self.stdout.write(f"alpha {found.agreement.alpha.value:.3f} over {found.agreement.pairs:,} pairs")
        for rule in Rule:
            seen = preview_merge(rule, found.said)
            counts = f"{seen.matches:,} match, {seen.no_matches:,} no match, {seen.unjudged:,} unjudged"
            self.stdout.write(f"{rule.value:10} {counts}. {WORDS[rule][1]}")
