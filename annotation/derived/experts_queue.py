"""Pairs as a queue for experts: a build that is paused from the beginning, so that no agent is asked.

Its pairs wait in plain review, and a study can draw them. Whoever resumes it has agents judge them as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import F

from annotation.builds.launch import launcher
from annotation.builds.launch.launcher import Actor
from annotation.builds.launch.order import Order
from annotation.derived.derivation import Who, queue_order
from annotation.models import Build, Case, Tally
from annotation.models.reviews.labels_in_force import refresh_new_cases
from retrieval.texts.plurals import count_noun

CASES_A_BATCH: Final = 1000
FOR_EXPERTS: Final = "for experts: people judge its pairs; resumed, agents judge them too, answered by file"


def queue_pairs_for_experts(order: Order, who: Who, user: Actor = None) -> Build:
    """The given pairs as a queue for experts, in Review and for studies; no agent is asked.

    Raises LaunchRefused.
    """
    wanted = queue_order(order, who)
    launcher.refuse_bad_order(wanted)

    def rows() -> tuple[Build, str]:
        build = launcher.create_build_rows(wanted, user)
        return build, count_noun(build.proposed.count(), "given pair")

    return queue_for_experts(wanted, user, rows)


def queue_for_experts(order: Order, user: Actor, rows: Callable[[], tuple[Build, str]]) -> Build:
    """Queue what `rows` makes, a build and what the history says of its pairs. Raises LaunchRefused."""
    launcher.refuse_bad_name(order)
    try:
        with transaction.atomic():
            build, told = rows()
            Build.objects.filter(pk=build.pk).update(
                state=Build.State.PAUSED,
                reason=FOR_EXPERTS,
                opened=True,
                for_experts=build.pair_list_id is not None,  # of holes their own row says it
            )
            open_for_review(build)
            launcher.record_build_event(build, user, "queued for experts", told)
    except IntegrityError:
        launcher.refuse_bad_name(order)  # somebody, or a second click, took the name meanwhile
        raise
    return Build.objects.select_related("mining").get(pk=build.pk)


def open_for_review(build: Build) -> None:
    """One case for each pair; nobody works on them while the build is paused."""
    rows = build.proposed.order_by("query_id", "rank").values("pair_id", "query_id", "rank", "score")
    found = rows.annotate(candidate_id=F("pk"))[: build.limit]
    cases = [Case(build=build, annotator_id=build.annotator_id, **row) for row in found]
    Case.objects.bulk_create(cases, batch_size=CASES_A_BATCH)
    Tally.objects.get(pk=build.pk).change(screening=len(cases))
    refresh_new_cases(build.pk)
