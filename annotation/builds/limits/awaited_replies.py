"""A build that is answered by file waits for replies, and says which models gave those that came.

Nothing in it runs while all of its open cases wait, so its state says so, and no end is foretold.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.builds.limits.circuit_breaker import NOT_WAITING
from annotation.models import Build, Case, Extension, LLMCall, Proposal, Webhook
from annotation.stages import Stage
from annotation.webhooks.outbox import announce_build
from retrieval.texts.hostile import mark_hostile_characters

LONGEST_NAME = 120
WAITING = LLMCall.Status.WAITING


def hold_for_replies(build: Build) -> bool:
    """Let a running build wait whose open cases all wait for replies by file; says whether it does now.

    A reply that comes meanwhile sets it going at the next beat.
    """
    if build.provider != Build.Provider.EXCHANGE:
        return False
    running = Build.objects.filter(pk=build.pk, state=Build.State.RUNNING, opened=True)
    idle = running.filter(Exists(find_parked_cases()) | Exists(find_parked_proposals()))
    if not idle.exclude(can_go_on()).exists():  # looked at after each request: a write would lock
        return False
    with transaction.atomic():
        held = idle.exclude(can_go_on()).update(
            state=Build.State.WAITING,
            waits_for=Build.WaitsFor.REPLIES,
            waiting_since=timezone.now(),
            next_probe_at=None,
            probe_count=0,
        )
        if held:
            announce_build(build, Webhook.Event.BUILD_NEEDS_PERSON)
            build.tally.change()
    return bool(held)


def resume_answered() -> int:
    """Set builds going that waited for replies and have some, or other work; returns how many."""
    waiting = Build.objects.filter(state=Build.State.WAITING, waits_for=Build.WaitsFor.REPLIES)
    found = list(waiting.filter(can_go_on()).select_related("tally"))
    for build in found:
        waiting.filter(pk=build.pk).update(state=Build.State.RUNNING, **NOT_WAITING)
        build.tally.change()
    return len(found)


def can_go_on() -> Q:
    """Of a build: some open case, or function to be written, waits for no reply; or nothing is open at all.

    An extension that is mined is work, too.
    """
    stages = [stage for stage in Stage if stage.is_working]
    working = Case.objects.filter(build=OuterRef("pk"), stage__in=stages)
    mined = Exists(Extension.objects.filter(build=OuterRef("pk"), state=Extension.State.MINING))
    writing = Proposal.objects.writing().filter(filling__build=OuterRef("pk"))
    free = Exists(working.filter(waiting_for=None)) | Exists(writing.filter(waiting_for=None))
    return Q(free) | Q(mined) | ~Q(Exists(working) | Exists(writing))


def find_parked_cases() -> QuerySet[Case]:
    """Cases of the build of an outer query that wait for a reply by file."""
    return Case.objects.filter(build=OuterRef("pk"), waiting_for__status=WAITING)


def find_parked_proposals() -> QuerySet[Proposal]:
    """The same of functions that are to be written."""
    return Proposal.objects.filter(filling__build=OuterRef("pk"), waiting_for__status=WAITING)


def clean_model_name(name: str) -> str:
    """The name of a model, or of a person, as it is kept."""
    return mark_hostile_characters(" ".join(name.split()))[:LONGEST_NAME]


def note_answering_models(build: Build, names: Iterable[str]) -> None:
    """Keep the names of models that answered the build by file; that of its order says nothing new."""
    clean = {clean_model_name(name) for name in names}
    new = sorted(clean - {"", build.model, *build.answered_by})
    if not new:
        return
    with transaction.atomic():
        row = Build.objects.select_for_update(no_key=True).only("answered_by").get(pk=build.pk)
        build.answered_by = [*row.answered_by, *(name for name in new if name not in row.answered_by)]
        Build.objects.filter(pk=build.pk).update(answered_by=build.answered_by)
