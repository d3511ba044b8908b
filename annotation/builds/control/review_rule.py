"""Change what an expert's label does in a build: at once, or when two agree. Who and why is recorded."""

from __future__ import annotations

from django.db import connection, transaction

from annotation.builds.control.spending_caps import checked_reason
from annotation.builds.launch.launcher import Actor, record_build_event
from annotation.models import Build, Case
from annotation.models.builds.build import ReviewRule
from annotation.models.reviews.labels_in_force import list_labelled_pairs, refresh_labels_in_force


def change_review_rule(build: Build, needed: int, user: Actor, why: str) -> int:
    """Have `needed` experts agree before their label counts; returns how many labels in force that changes.

    All of it in one transaction, which reviews of the build wait for. Raises CapRefused without a reason.
    """
    reason, rule = checked_reason(why), ReviewRule(needed)
    with transaction.atomic():
        held = Build.objects.select_for_update(no_key=True).get(pk=build.pk)
        if held.reviews_needed == rule:
            return 0
        Build.objects.filter(pk=build.pk).update(reviews_needed=rule)
        changed = refresh_labels_in_force(hold_labelled_pairs(held), held.pk)
        build.tally.change()  # also where no label changes: pages say the rule
        told = f"an expert's label {rule.label}; {changed:,} labels changed: {reason}"
        record_build_event(build, user, "review rule changed", told)
    build.reviews_needed = rule
    return changed


def switch_hidden_reviews(build: Build, hides: bool, user: Actor, why: str) -> bool:
    """Hide experts' labels from each other until both are stored, or show them; returns whether that is new.

    Raises CapRefused without a reason.
    """
    reason = checked_reason(why)
    with transaction.atomic():
        changed = Build.objects.filter(pk=build.pk).exclude(hides_reviews=hides).update(hides_reviews=hides)
        if changed:
            told = "hidden until one's own is stored" if hides else "shown"
            record_build_event(build, user, "review rule changed", f"others' labels are {told}: {reason}")
    build.hides_reviews = hides
    return bool(changed)


def hold_labelled_pairs(build: Build) -> list[int]:
    """The pairs that people labelled; their cases get no verdict until the transaction ends."""
    pairs = list_labelled_pairs(build.pk)
    if connection.features.has_select_for_update:
        cases = Case.objects.select_for_update(no_key=True).filter(build=build, pair__in=pairs)
        list(cases.order_by("pk").values_list("pk", flat=True))
    return pairs
