"""The guidelines of a study, and who has read them."""

from __future__ import annotations

from django.contrib.auth.models import User

from annotation.models import Acknowledgement, Guideline, Study


def current(study: Study) -> Guideline | None:
    """The version that raters follow now."""
    return study.guideline


def acknowledged(study: Study, user: User) -> bool:
    """Whether the person has read that version; also where there is none."""
    wanted = current(study)
    return wanted is None or Acknowledgement.objects.filter(guideline=wanted, user=user).exists()


def acknowledge(study: Study, user: User) -> None:
    """Remember that the person has read the version that is current now. Safe to repeat."""
    wanted = current(study)
    if wanted is not None:
        Acknowledgement.objects.get_or_create(guideline=wanted, user=user)
