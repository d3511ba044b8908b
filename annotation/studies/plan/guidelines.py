"""Guidelines: versions that are never changed, and who has read which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django.contrib.auth.models import AbstractBaseUser, User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

from annotation import prompts
from annotation.models import Acknowledgement, Guideline, Study
from annotation.studies.audit_log import Verb, append_audit_event
from retrieval.models.prepared_query import PreparedQuery
from retrieval.texts.hostile import clean_json, mark_hostile_characters

ACKNOWLEDGED: PreparedQuery[int] = PreparedQuery(
    lambda guideline, user: Acknowledgement.objects.filter(guideline=guideline, user=user).values_list("pk"),
    *(int, int),
)
LONGEST_TEXT: Final = 100_000
LONGEST_CASE: Final = 10_000
LONGEST_NAME: Final = 80
MOST_CASES: Final = 100
CASE_PARTS: Final = {"query": "query", "code": "code", "value": "label"}


def first_text() -> str:
    """What new guidelines begin with: the text by which agents judge, too."""
    return f"Label 1 is a match, label 0 is none.\n\n{prompts.load_match_criterion()}\n"


class BadGuideline(ValueError):
    """The version can't be written like this; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A version as it is written. `change` is a Guideline.Change; `note` says what is different."""

    name: str
    text: str
    change: str = Guideline.Change.FIRST
    note: str = ""
    worked_cases: tuple[dict[str, Any], ...] = ()


def has_acknowledged_guideline(study: Study, user: AbstractBaseUser) -> bool:
    """Whether the person has read the version that holds now. Without guidelines there is nothing to read."""
    if study.guideline_id is None:
        return True
    return bool(ACKNOWLEDGED.load(study.guideline_id, user.pk))


def acknowledge_guideline(study: Study, user: AbstractBaseUser) -> None:
    """Note that the person has read it. Safe to repeat."""
    if study.guideline_id is None or has_acknowledged_guideline(study, user):
        return
    with transaction.atomic():
        _, new = Acknowledgement.objects.get_or_create(guideline_id=study.guideline_id, user_id=user.pk)
        if new:
            version = str(study.guideline)
            append_audit_event(user, Verb.GUIDELINE_READ, version, study, {"guideline": study.guideline_id})


def find_latest_guideline(name: str) -> Guideline | None:
    """The newest version of the guidelines of that name."""
    return Guideline.objects.filter(name=name).order_by("-version").first()


def write_guideline_version(wording: Wording, user: User, seen_version: int = 0) -> Guideline:
    """The next version. Raises BadGuideline, also where somebody wrote one since `seen_version`."""
    refuse_bad_wording(wording, seen_version)
    name = mark_hostile_characters(wording.name.strip())
    try:
        with transaction.atomic():
            made = Guideline.objects.create(
                name=name,
                version=seen_version + 1,
                text=mark_hostile_characters(wording.text),
                worked_cases=clean_json(list(wording.worked_cases)),
                change=wording.change if seen_version else Guideline.Change.FIRST,
                note=mark_hostile_characters(wording.note),
                created_by=user,
            )
            append_audit_event(
                user, Verb.GUIDELINE_WRITTEN, str(made), detail={"change": made.change, "note": made.note}
            )
            return made
    except IntegrityError as taken:
        raise BadGuideline(written_meanwhile(name, seen_version)) from taken


def refuse_bad_wording(wording: Wording, seen_version: int) -> None:
    name = mark_hostile_characters(wording.name.strip())
    if not 0 < len(name) <= LONGEST_NAME:
        raise BadGuideline(f"Give the guidelines a name of 1 to {LONGEST_NAME} characters.")
    if not wording.text.strip():
        raise BadGuideline("The guidelines are empty: write what makes a match.")
    if len(wording.text) > LONGEST_TEXT:
        raise BadGuideline(f"At most {LONGEST_TEXT:,} characters; these are {len(wording.text):,}.")
    if len(wording.worked_cases) > MOST_CASES:
        raise BadGuideline(f"At most {MOST_CASES} worked cases.")
    refuse_half_cases(wording)
    newest = find_latest_guideline(name)
    if (newest.version if newest else 0) != seen_version:
        raise BadGuideline(written_meanwhile(name, seen_version))
    if seen_version and wording.change not in {Guideline.Change.WORDING, Guideline.Change.MEANING}:
        raise BadGuideline("Say whether the wording or the meaning changes.")
    if seen_version and not wording.note.strip():
        raise BadGuideline("Say what changed: raters read it first.")


def refuse_half_cases(wording: Wording) -> None:
    """Raters hold their pair against a case: it has a query, the code and the label of both."""
    for number, case in enumerate(wording.worked_cases, 1):
        missing = [word for name, word in CASE_PARTS.items() if not str(case.get(name, "")).strip()]
        if missing:
            lacks = " and no ".join(missing)
            raise BadGuideline(f"Worked case {number} has no {lacks}: fill it in, or empty the case.")


def written_meanwhile(name: str, seen_version: int) -> str:
    if not seen_version:
        return f"There are guidelines called “{name}” already: open them and write their next version."
    return f"Somebody wrote version {seen_version + 1} of “{name}” meanwhile; look at it, then write on."


def find_guideline_versions(name: str) -> QuerySet[Guideline]:
    """All versions of that name, the newest first."""
    return Guideline.objects.filter(name=name).select_related("created_by").order_by("-version")


def render_guideline_markdown(text: str) -> SafeString:
    """Markdown as HTML: the author's own HTML is shown as text; no pictures, no links to scripts."""
    return SafeString(build_markdown_parser().render(text))


@cache
def build_markdown_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")
