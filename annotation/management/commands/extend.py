"""`manage.py extend NAME …`: add pairs to a build from the command line; only new ones are paid for."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.actors import AtShell
from annotation.caps import CapRefused
from annotation.estimating.confirming import in_words, signed
from annotation.extending import doing, wishing
from annotation.extending.wishing import Wish
from annotation.launching import LaunchRefused
from annotation.management import agreeing
from annotation.models import Build
from annotation.steering import ControlRefused
from annotation.tools import counter
from retrieval.management.light import LightCommand


class Command(LightCommand):
    help = "Extend a build: more queries, a larger k, snippets that were added since. What is settled stays."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the build")
        parser.add_argument("-k", type=int, help="candidates a query; default as many as there are")
        parser.add_argument("--queries", type=int, default=0, help="so many more, drawn by the seed")
        parser.add_argument("--seed", type=int, default=1, help="of the draw (default %(default)s)")
        parser.add_argument("--newer", action="store_true", help="also snippets that were added since")
        parser.add_argument("--why", default="", help="kept in the history; needed unless --estimate")
        parser.add_argument(
            "--skip-canary",
            default="",
            metavar="WHY",
            help="why a large live one may ask for all pairs at once; default its canary comes first",
        )
        agreeing.add_argument(parser)
        parser.add_argument(
            "--estimate", action="store_true", help="only say what it would take; nothing is changed"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        build = Build.objects.select_related("tally").filter(name=options["name"]).first()
        if build is None:
            raise CommandError(f"There is no build called {options['name']!r}.")
        wish = Wish(options["k"], options["queries"], options["seed"], options["newer"])
        try:
            plan = wishing.plan(build, wish)
            figures = wishing.price(build, plan, counter(build.provider, build.model))
            self.stdout.write(f"{plan.words}: {in_words(figures)}")
            if (first := wishing.canary_of(build, plan)) and not options["skip_canary"]:
                self.stdout.write(
                    f"{first:,} random cases of them go first; the build then waits for your word"
                )
            if options["estimate"]:
                return
            agreeing.agree(build.provider, options)
            word = signed(wishing.order_for(build, plan), figures, wishing.about(build, plan))
            made = doing.extend(build, wish, options["why"], AtShell.now(), word, options["skip_canary"])
        except (ControlRefused, LaunchRefused, CapRefused) as why:
            raise CommandError(str(why)) from why
        self.stdout.write(f"extension {made.number} of build {build.pk} is mined next")
