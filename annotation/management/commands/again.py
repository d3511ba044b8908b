"""`manage.py again NAME --from STAGE …`: run cases of a build again from the command line."""

from __future__ import annotations

from argparse import ArgumentTypeError, BooleanOptionalAction
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.builds.control.spending_caps import CapRefused
from annotation.builds.launch.order import LaunchRefused
from annotation.derived.rerun import launch
from annotation.derived.rerun.launch import STAGES, Again, RerunPlan
from annotation.llm.sampling import LONGER
from annotation.management import derived_options
from annotation.management.lookups import find_build
from annotation.models import Build
from annotation.stages import Stage
from annotation.web.derived.rerun import Picked, free_name, picked_by_words
from retrieval.management.light import LightCommand

SAME = "(default: as in the build)"
DIFFERING = (
    "provider",
    "recorded",
    "fix_rounds",
    "rewrites",
    "second_test",
    "fresh",
    "unpriced",
    "spot_check",
    "sample",
    "seed",
)


class Command(LightCommand):
    help = "Rerun cases of a build from any stage, as another build; earlier stages are taken over."
    refusals = (CapRefused, LaunchRefused)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the build whose cases are meant; it is not changed")
        parser.add_argument(
            "--from",
            dest="stage",
            choices=[stage.value for stage in STAGES],
            default="",
            help="the stage to start again from; needed unless --spot-check",
        )
        parser.add_argument(
            "--as", dest="new", default="", help="name of the new build (default: NAME again)"
        )
        self.add_picking(parser)
        self.add_differing(parser)
        parser.add_argument(
            "--estimate", action="store_true", help="only say what it would take; nothing is made"
        )

    def add_picking(self, parser: CommandParser) -> None:
        """Which cases; without any of these all of them."""
        parser.add_argument(
            "--where",
            default="",
            metavar="FILTERS",
            help="as in the address of the list of cases: 'stage=abandoned&cause=…', 'outcome=failed' …",
        )
        parser.add_argument("--cases", type=int, nargs="+", default=[], metavar="ID", help="just these")
        parser.add_argument(
            "--flips", default="", metavar="NAME", help="that this build labelled differently"
        )
        parser.add_argument(
            "--sample", type=parse_positive_count, metavar="N", help="run only N cases, drawn by --seed"
        )
        parser.add_argument("--seed", type=int, default=1, help="of --sample (default %(default)s)")
        parser.add_argument(
            "--spot-check",
            action="store_true",
            help="read and test pairs that the screener found clear, to see how often it errs",
        )

    def add_differing(self, parser: CommandParser) -> None:
        """What differs from the build."""
        derived_options.add_answering(parser, default=None, like=SAME)
        parser.add_argument(
            "--sampling", default="", metavar="JSON", help=f"such as '{LONGER}' for longer replies {SAME}"
        )
        parser.add_argument("--fix-rounds", type=int, help=f"for missing modules {SAME}")
        parser.add_argument("--rewrites", type=int, help=f"of programs that redefine {SAME}")
        parser.add_argument(
            "--second-test",
            action=BooleanOptionalAction,
            help=f"one more, or never, where one tested nothing {SAME}",
        )
        parser.add_argument(
            "--fresh",
            action=BooleanOptionalAction,
            help="ask again what was answered before, or take stored answers where there are any (default: "
            "ask again where nothing else is new)",
        )
        derived_options.add_decision(parser, needs_reason=True)

    def handle(self, *args: Any, **options: Any) -> None:
        source = find_build(options["name"])
        wish = self.wish(source, options)
        picked = self.picked(source, options)
        plan = launch.plan_rerun(source, picked.cases, wish, picked.words)
        plan.refuse_bad()
        quote, price = derived_options.quote_plan(plan)
        self.show(plan, price)
        if options["estimate"]:
            return
        made = derived_options.launch_plan(plan, quote, options)
        self.stdout.write(f"launched build {made.pk}: {made.name}")

    def wish(self, source: Build, options: dict[str, Any]) -> Again:
        stage = options["stage"] or (Stage.READING if options["spot_check"] else "")
        if not stage:
            raise CommandError("--from says at which stage the cases begin.")
        return Again(
            options["new"] or free_name(source),
            Stage(stage),
            model=options["model"] or None,
            budget=derived_options.parse_dollars(options["budget"]),
            sampling=derived_options.parse_sampling(options["sampling"]) or None,
            **{name: options[name] for name in DIFFERING},
        )

    def picked(self, source: Build, options: dict[str, Any]) -> Picked:
        other = find_build(options["flips"]).pk if options["flips"] else None
        return picked_by_words(source, Build.objects.all(), options["where"], options["cases"], other)

    def show(self, plan: RerunPlan, price: str) -> None:
        """Say what it comes to, in one line."""
        start, asked = plan.stage.replace("_", " "), ", asked again" if plan.order.fresh else ""
        self.stdout.write(
            f"{plan.words}: {plan.able:,} of {plan.chosen:,} cases from {start} on{asked}: {price}"
        )


def parse_positive_count(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("a whole number from 1 on")
    return int(text)
