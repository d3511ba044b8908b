"""`manage.py merge NAME [--rule RULE]`: what each rule would make of a build's rounds; or merge them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation import merging
from annotation.actors import AtShell
from annotation.merging import WORDS, Rule, outlook
from annotation.models import Build
from annotation.rounds import rounds_of
from annotation.steering import ControlRefused
from retrieval.management.light import LightCommand


class Command(LightCommand):
    help = (
        "Show what each rule would make of the rounds of a build; with --rule, merge them by it "
        "('manage.py serve' or 'work' does the work)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the build")
        parser.add_argument("--rule", choices=[rule.value for rule in Rule], help="merge by this rule")

    def handle(self, *args: Any, **options: Any) -> None:
        build = Build.objects.select_related("tally", "annotator").filter(name=options["name"]).first()
        if build is None:
            raise CommandError(f"There is no build called {options['name']!r}.")
        if options["rule"] is None:
            self.show(build)
            return
        try:
            row = merging.merge(build, Rule(options["rule"]), AtShell.now())
        except ControlRefused as why:
            raise CommandError(str(why)) from why
        self.stdout.write(f"merge {row.pk} by {row.rule}: labels of annotator {row.annotator.version[:8]}")

    def show(self, build: Build) -> None:
        """Alpha, then each rule in a line."""
        found = rounds_of(build)
        if found.agreement and found.agreement.alpha.value is not None:
            self.stdout.write(f"alpha {found.agreement.alpha.value:.3f} over {found.agreement.pairs:,} pairs")
        for rule in Rule:
            seen = outlook(rule, found.said)
            counts = f"{seen.matches:,} match, {seen.no_matches:,} no match, {seen.unjudged:,} unjudged"
            self.stdout.write(f"{rule.value:10} {counts}. {WORDS[rule][1]}")
