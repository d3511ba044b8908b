"""The guidelines that a rater follows, one key away."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User

from annotation.models import Guideline, Study
from annotation.studies.plan import guidelines


@dataclass(frozen=True, slots=True)
class Guide:
    """The guidelines that hold, to be opened with one key; `unread`: they have changed since."""

    pk: int
    name: str
    html: str
    cases: tuple[dict[str, object], ...]
    note: str
    unread: bool


def guide_of(study: Study, user: User) -> Guide | None:
    """Those of the study, and whether the person has read this version."""
    found = study.guideline
    return build_rater_guide(found, not guidelines.has_acknowledged_guideline(study, user)) if found else None


def build_rater_guide(found: Guideline, unread: bool) -> Guide:
    """A version of the guidelines with its worked cases."""
    cases = tuple(dict(case) for case in found.worked_cases if isinstance(case, dict))
    return Guide(
        found.pk, str(found), guidelines.render_guideline_markdown(found.text), cases, found.note, unread
    )
