"""`cosqa review`: what waits for a person, and where."""

from __future__ import annotations

import json
import webbrowser
from dataclasses import asdict
from typing import Any, Final

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.http import QueryDict

from annotation.accounts.roles import Role, builds_visible_to, has_role, jobs_visible_to
from annotation.management.lookups import find_build
from annotation.models import Filling
from annotation.web.missing_functions.proposals import job_lines
from annotation.web.review.worklists import build_lines
from annotation.web.work.page import (
    WorkCard,
    assigned_cards,
    function_cards,
    review_cards,
    work_page,
)
from retrieval.management.light import LightCommand

ADDRESS: Final = "http://127.0.0.1:8000"


class Command(LightCommand):
    help = "Show what waits for a person: pairs to review or rate, disagreements, functions to accept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("build", nargs="?", help="name or id of one build")
        parser.add_argument("--user", metavar="NAME", help="whose work (default: the first expert or admin)")
        parser.add_argument("--address", default=ADDRESS, help="where it is served (default %(default)s)")
        parser.add_argument("--open", action="store_true", help="open the first page in a browser")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        user = find_reviewer(options["user"])
        cards = find_cards(user, options["build"])
        address = options["address"].rstrip("/")
        if options["json"]:
            rows = [asdict(card) | {"url": f"{address}{card.url}"} for card in cards]
            self.stdout.write(json.dumps({"user": user.get_username(), "work": rows}, ensure_ascii=False))
        else:
            self.stdout.write(f"Work of {user}:" if cards else f"Nothing waits for {user}.")
            self.stdout.writelines(f"  {describe_card(card, address)}\n" for card in cards)
        if options["open"] and cards:
            webbrowser.open(f"{address}{cards[0].url}")


def find_reviewer(name: str | None) -> User:
    """The account of that name, else the first that may review. Raises CommandError."""
    if name is None:
        return find_first_reviewer()
    found = User.objects.filter(username=name).first()
    if found is None or not has_role(found, Role.EXPERT):
        raise CommandError(
            f"{name!r} is no expert or admin; 'cosqa admin account {name} --role expert' helps."
        )
    return found


def find_first_reviewer() -> User:
    """Raises CommandError."""
    people = User.objects.filter(is_active=True).order_by("pk")
    found = next((user for user in people.iterator() if has_role(user, Role.EXPERT)), None)
    if found is None:
        raise CommandError("Nobody can review yet: 'cosqa init' makes an admin.")
    return found


def find_cards(user: User, build: str | None) -> list[WorkCard]:
    """What waits for the person, in one build or in all."""
    visible = builds_visible_to(user, opens=False)
    fillings = Filling.objects.filter(build__in=jobs_visible_to(user, opens=False))
    if build is None:
        return work_page(user, visible, fillings, QueryDict()).cards
    only = visible.filter(pk=find_build(build, visible).pk)
    return [
        *assigned_cards(user, only),
        *review_cards(user, build_lines(user, only)),
        *function_cards(job_lines(fillings.filter(of__in=only))),
    ]


def describe_card(card: WorkCard, address: str) -> str:
    return f"{card.title}: {card.name}, {card.waits}: {address}{card.url}"
