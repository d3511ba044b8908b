"""Who is meant by a choice of the page."""

from __future__ import annotations

import re
from typing import Final

from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation.builds.results.annotator_comparison import LAST, find_labelling_annotators
from annotation.models import Build
from annotation.quality.inputs.entrants import OfAnnotator, OfBuild, Source
from annotation.studies.plan.row_names import format_annotator_name
from retrieval.models import Annotator

CHOICE: Final = re.compile(r"(?P<kind>[ba])(?P<pk>[0-9]{1,18})(?:\.(?P<round>[0-9]{1,4}))?")


class NoSuchAnnotator(ValueError):
    """Nobody is called so; the message says what can be named."""


def of_round(build: Build, number: int) -> OfBuild:
    """Raises NoSuchAnnotator where the build has not so many rounds."""
    if number > build.rounds:
        raise NoSuchAnnotator(f"Build {build.name!r} has {build.rounds} rounds, not {number}.")
    return OfBuild(build, number)


def annotator_display_name(annotator: Annotator) -> str:
    """The name by which people know an annotator: a person's account."""
    if annotator.kind != Annotator.Kind.PERSON:
        return format_annotator_name(annotator)
    account = User.objects.filter(pk=annotator.config.get("user", 0)).first()
    return account.get_username() if account else annotator.name


def source_chosen(choice: str, builds: QuerySet[Build]) -> Source:
    """What the page's form means: `b12`, `b12.2` (a round), `a5`. Raises NoSuchAnnotator."""
    given, known = CHOICE.fullmatch(choice), builds.select_related("annotator")
    if given and given["kind"] == "b" and (build := known.filter(pk=given["pk"]).first()):
        return of_round(build, int(given["round"] or 1))
    if given and given["kind"] == "a" and (by := find_labelling_annotators().filter(pk=given["pk"]).first()):
        return OfAnnotator(by, LAST, annotator_display_name(by))
    raise NoSuchAnnotator("A chosen annotator is gone: choose again.")
