"""What a match is, as reviewers of a build read it: guidelines that an admin chose, or the published rule."""

from __future__ import annotations

from django.db import transaction

from annotation.builds.control.spending_caps import checked_reason
from annotation.builds.launch.launcher import Actor, record_build_event
from annotation.models import Build, Guideline
from annotation.studies.plan.guidelines import first_text

PUBLISHED_RULE = "The published rule"


def text_of_build(build: Build) -> str:
    """The text (Markdown) that holds for the build's reviewers."""
    return build.guideline.text if build.guideline else first_text()


def name_guideline(guideline: Guideline | None) -> str:
    """What pages call it; None is the published rule."""
    return str(guideline) if guideline else PUBLISHED_RULE


def set_guideline(build: Build, guideline: Guideline | None, user: Actor, why: str) -> bool:
    """Have reviewers of the build read this version; None: the published rule. Returns whether that is new.

    Who did it and why is kept in the build's history. Raises CapRefused without a reason.
    """
    reason = checked_reason(why)
    chosen = guideline.pk if guideline else None
    with transaction.atomic():
        held = Build.objects.select_for_update(no_key=True).get(pk=build.pk)
        if held.guideline_id == chosen:
            return False
        Build.objects.filter(pk=build.pk).update(guideline=chosen)
        record_build_event(
            build, user, "guidelines changed", f"reviewers read {name_guideline(guideline)}: {reason}"
        )
    build.guideline = guideline
    return True
