"""`manage.py extend NAME …`: add pairs to a build from the command line; only new ones are paid for."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.builds.control.pause_resume import ControlRefused
from annotation.builds.control.spending_caps import CapRefused
from annotation.builds.launch.order import LaunchRefused
from annotation.derived.extension.extension_plan import plan_extension
from annotation.management import derived_options
from annotation.management.lookups import find_build
from annotation.management.schema_options import add_schema_options, read_schema_options
from annotation.schemas.derived.derived_builds import ExtensionWish
from retrieval.management.light import LightCommand


class Command(LightCommand):
    help = "Extend a build: more queries, a larger k, functions that were added since. What is settled stays."
    refusals = (CapRefused, ControlRefused, LaunchRefused)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the build")
        add_schema_options(parser, ExtensionWish, *ExtensionWish.model_fields)
        derived_options.add_decision(parser, needs_reason=True)
        parser.add_argument(
            "--estimate", action="store_true", help="only say what it would take; nothing is changed"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        build = find_build(options["name"])
        plan = plan_extension(build, read_schema_options(ExtensionWish, options))
        quote, price = derived_options.quote_plan(plan)
        self.stdout.write(f"{plan.words}: {price}")
        if plan.canary and not options["skip_canary"]:
            self.stdout.write(
                f"{plan.canary:,} random cases go first; the build then waits for your decision"
            )
        if options["estimate"]:
            return
        made = derived_options.launch_plan(plan, quote, options)
        self.stdout.write(f"extension {made.number} of build {build.pk} is mined next")
