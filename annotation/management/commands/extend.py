"""`manage.py extend NAME …`: add pairs to a build from the command line; only new ones are paid for."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.caps import CapRefused
from annotation.estimating.confirming import in_words
from annotation.extending import doing, wishing
from annotation.extending.wishing import Wish
from annotation.launching import LaunchRefused
from annotation.models import Build
from annotation.steering import ControlRefused
from annotation.tools import counter


class Command(BaseCommand):
    help = "Extend a build: more queries, a larger k, snippets that were added since. What is settled stays."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the build")
        parser.add_argument("-k", type=int, help="candidates a query; default as many as there are")
        parser.add_argument("--queries", type=int, default=0, help="so many more, drawn by the seed")
        parser.add_argument("--seed", type=int, default=1, help="of the draw (default %(default)s)")
        parser.add_argument("--newer", action="store_true", help="also snippets that were added since")
        parser.add_argument("--why", default="", help="kept in the history; needed unless --estimate")
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
            price = in_words(wishing.price(build, plan, counter(build.provider)))
            self.stdout.write(f"{plan.words}: {price}")
            if options["estimate"]:
                return
            made = doing.extend(build, wish, options["why"])
        except (ControlRefused, LaunchRefused, CapRefused) as why:
            raise CommandError(str(why)) from why
        self.stdout.write(f"extension {made.number} of build {build.pk} is mined next")
