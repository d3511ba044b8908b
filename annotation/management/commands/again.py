"""`manage.py again NAME --from STAGE …`: run cases of a build again from the command line."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.actors import AtShell
from annotation.caps import CapRefused
from annotation.estimating.confirming import in_words, signed
from annotation.launching import LaunchRefused
from annotation.llm.sampling import LONGER, NotSampling, sampling_of
from annotation.management import agreeing
from annotation.models import Build
from annotation.pages.rerunning import Picked, free_name, picked_by_words
from annotation.rerunning import ordering
from annotation.rerunning.ordering import STAGES, Again, Plan
from annotation.stages import Stage
from annotation.tools import counter
from retrieval.hostile import clean
from retrieval.management.light import LightCommand

SAME = "(default: as in the build)"
DIFFERING = ("provider", "recorded", "model", "fix_rounds", "rewrites", "second_test", "fresh", "unpriced")


class Command(LightCommand):
    help = "Run cases of a build again from a stage on, as another build; what comes before is taken over."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the build whose cases are meant; it is not changed")
        parser.add_argument(
            "--from",
            dest="stage",
            choices=[stage.value for stage in STAGES],
            required=True,
            help="the first stage that is done anew",
        )
        parser.add_argument(
            "--as", dest="new", default="", help="name of the new build (default: NAME again)"
        )
        self.add_picking(parser)
        self.add_differing(parser)
        parser.add_argument("--why", default="", help="kept in the history; needed unless --estimate")
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
        parser.add_argument("--flips", default="", metavar="NAME", help="that this build labelled otherwise")

    def add_differing(self, parser: CommandParser) -> None:
        """What differs from the build."""
        self.add_answering(parser)
        self.add_repairing(parser)
        self.add_freshness(parser)
        self.add_paying(parser)
        agreeing.add_argument(parser)

    def add_answering(self, parser: CommandParser) -> None:
        """Who answers, and how."""
        parser.add_argument("--provider", choices=Build.Provider.values, help=f"who answers {SAME}")
        parser.add_argument("--model", help=f"that the agents ask {SAME}")
        parser.add_argument("--recorded", default="", help="file of recorded replies")
        parser.add_argument(
            "--sampling", default="", metavar="JSON", help=f"such as '{LONGER}' for longer replies {SAME}"
        )

    def add_repairing(self, parser: CommandParser) -> None:
        """What becomes of test programs that could tell nothing."""
        parser.add_argument("--fix-rounds", type=int, help=f"for missing modules {SAME}")
        parser.add_argument("--rewrites", type=int, help=f"of programs that redefine {SAME}")
        second = parser.add_mutually_exclusive_group()
        second.add_argument(
            "--second-test",
            action="store_true",
            default=None,
            help=f"one more where one tested nothing {SAME}",
        )
        second.add_argument(
            "--no-second-test",
            action="store_false",
            dest="second_test",
            default=None,
            help="never one more",
        )

    def add_freshness(self, parser: CommandParser) -> None:
        """Whether stored answers are taken."""
        fresh = parser.add_mutually_exclusive_group()
        fresh.add_argument(
            "--fresh",
            action="store_true",
            default=None,
            help="ask anew what was answered before (default: where nothing else is new)",
        )
        fresh.add_argument(
            "--no-fresh",
            action="store_false",
            dest="fresh",
            default=None,
            help="take stored answers where there are any",
        )

    def add_paying(self, parser: CommandParser) -> None:
        """What it may cost."""
        parser.add_argument("--budget", default="", help="dollars; default no cap")
        parser.add_argument("--unpriced", action="store_true", help="ask a live model without a price")
        parser.add_argument(
            "--skip-canary",
            default="",
            metavar="WHY",
            help="why a large live build may ask for all pairs at once; default its canary comes first",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        source = found(options["name"])
        wish = self.wish(source, options)
        try:
            picked = self.picked(source, options)
            plan = ordering.plan(source, picked.cases, wish)
            ordering.refuse_bad(plan)
            word = self.show(picked, plan)
            if options["estimate"]:
                return
            agreeing.agree(plan.order.provider, options)
            by = AtShell.now()
            made = ordering.launch(source, picked.cases, wish, options["why"], by, word, picked.words)
        except (LaunchRefused, CapRefused) as why:
            raise CommandError(str(why)) from why
        self.stdout.write(f"launched build {made.pk}: {made.name}")

    def wish(self, source: Build, options: dict[str, Any]) -> Again:
        return Again(
            options["new"] or free_name(source),
            Stage(options["stage"]),
            budget=dollars(options["budget"]),
            sampling=sampling(options["sampling"]) or None,
            skip_canary=options["skip_canary"],
            **{name: options[name] for name in DIFFERING},
        )

    def picked(self, source: Build, options: dict[str, Any]) -> Picked:
        other = found(options["flips"]).pk if options["flips"] else None
        return picked_by_words(source, Build.objects.all(), options["where"], options["cases"], other)

    def show(self, picked: Picked, plan: Plan) -> str:
        """Say what it comes to, in one line; the word that launches it on that."""
        figures = ordering.price(plan, counter(plan.order.provider, plan.order.model))
        price = in_words(figures)
        start, anew = plan.stage.replace("_", " "), ", asked anew" if plan.order.fresh else ""
        self.stdout.write(
            f"{picked.words}: {plan.able:,} of {plan.chosen:,} cases from {start} on{anew}: {price}"
        )
        return signed(plan.order, figures, ordering.about(plan))


def found(name: str) -> Build:
    build = Build.objects.select_related("tally", "annotator", "mining").filter(name=name).first()
    if build is None:
        raise CommandError(f"There is no build called {name!r}.")
    return build


def sampling(text: str) -> dict[str, Any]:
    try:
        return dict(sampling_of(clean(text)))
    except NotSampling as error:
        raise CommandError(f"--sampling {text!r}: {error}") from error


def dollars(text: str) -> Decimal | None:
    try:
        return Decimal(text) if text else None
    except InvalidOperation as error:
        raise CommandError(f"--budget {text!r} is no number of dollars.") from error
