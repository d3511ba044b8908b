"""Who is meant by a name on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from django.db.models import QuerySet

from annotation.builds.results.annotator_comparison import LAST, find_labelling_annotators
from annotation.models import Build
from annotation.quality.inputs.annotator_choice import NoSuchAnnotator, annotator_display_name, of_round
from annotation.quality.inputs.entrants import Group, OfAnnotator, OfBuild, OfFile, Source
from annotation.quality.inputs.files import read_labels

ROUND: Final = re.compile(r"(?P<name>.+)@(?P<round>[1-9][0-9]{0,3})")
HASH: Final = re.compile(r"[0-9a-f]{6,64}")
MOST_TOLD: Final = 20


def group_named(word: str, builds: QuerySet[Build], pairs: Sequence[str]) -> Group:
    """The annotator that a word means: `NAME`, `NAME@ROUND`, `A,B` (answered twice), `CALLED=A,B`.

    NAME is a build's name or number, an annotator's hash (six digits or more), or a file of labels of the
    `pairs` (ids). Raises NoSuchAnnotator and BadFile.
    """
    whole = source_named(word, builds, pairs)
    if whole is not None:
        return Group((whole,))
    called, is_named, rest = word.partition("=")
    sources = []
    for name in (rest if is_named else word).split(","):
        source = source_named(name.strip(), builds, pairs)
        if source is None:
            raise NoSuchAnnotator(describe_unknown_annotator(name.strip(), builds))
        sources.append(source)
    return Group(tuple(sources), called.strip() if is_named else "")


def source_named(name: str, builds: QuerySet[Build], pairs: Sequence[str]) -> Source | None:
    """A build, a file, or an annotator; None where there is none of the name."""
    given = ROUND.fullmatch(name)
    if build := build_named(name, builds):
        return OfBuild(build, 1)
    if given and (build := build_named(given["name"], builds)):
        return of_round(build, int(given["round"]))
    if name and Path(name).is_file():
        with Path(name).open("rb") as stream:
            return OfFile(Path(name).name, read_labels(stream, name, pairs))
    digits, number = (given["name"], int(given["round"])) if given else (name, LAST)
    found = (
        list(find_labelling_annotators().filter(version__startswith=digits)[:2])
        if HASH.fullmatch(digits)
        else []
    )
    if len(found) > 1:
        raise NoSuchAnnotator(f"Several annotators have a hash that begins with {digits}: write more of it.")
    return OfAnnotator(found[0], number, annotator_display_name(found[0])) if found else None


def build_named(name: str, builds: QuerySet[Build]) -> Build | None:
    rows = builds.select_related("annotator")
    return rows.filter(name=name).first() or (
        rows.filter(pk=name).first() if name.isdecimal() and len(name) < 19 else None
    )


def describe_unknown_annotator(name: str, builds: QuerySet[Build]) -> str:
    """That nobody is called so, and who is there."""
    known = ", ".join(builds.order_by("-pk").values_list("name", flat=True)[:MOST_TOLD]) or "none yet"
    return f"{name!r} is no build, no hash of an annotator with labels, and no file. Builds are: {known}."
