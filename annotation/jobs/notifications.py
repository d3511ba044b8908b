"""Tell people outside what needs them: each episode once, whoever looks, and at most a few tries each.

Nothing here may harm a build: a look only reads builds, and what can't be sent is noted and given up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from annotation.builds.limits import budget, canary
from annotation.builds.pipeline import claims
from annotation.builds.pipeline.llm_calls import no_connection
from annotation.jobs import delivery_channels, heartbeat
from annotation.models import (
    Batch,
    Build,
    BuildEvent,
    Delivery,
    Extension,
    Notice,
    ProjectCapChange,
    ProjectTally,
    Tally,
)
from annotation.models.builds.build import NANO
from annotation.stages import Queue
from annotation.webhooks.outbox import build_page_address
from retrieval.models import Mining

Kind = Notice.Kind
PROJECT: Final = (Kind.PROJECT_NEARLY_SPENT, Kind.PROJECT_SPENT)
STOPS: Final = ("pause", "stopped for a person")
"""Events after which a build stands still until a person does something."""
RECENT: Final = timedelta(days=1)
"""What ended longer ago is no news, to whoever sets notifications up."""
TRIES: Final = 3
PAUSE: Final = timedelta(minutes=1)
LOST: Final = timedelta(minutes=10)
"""No try takes so long: its worker died."""
LONGEST_NAME: Final = 120


@dataclass(frozen=True)
class Episode:
    """Something to tell; `since` sets it apart from the next time that it happens to the same build.

    Without a build it is about the project.
    """

    kind: Kind
    build: Build | None
    since: str
    words: str

    @property
    def key(self) -> str:
        return f"{self.build.pk if self.build else 'project'}: {self.since}"


def list_configured_channels() -> list[Delivery.Channel]:
    """The ways that are configured."""
    mail = [Delivery.Channel.MAIL] if settings.NOTIFY_EMAIL else []
    return mail + ([Delivery.Channel.COMMAND] if settings.NOTIFY_COMMAND else [])


def record_new_episodes() -> int:
    """Note what has happened since the last look; returns how many episodes are new."""
    now = timezone.now()
    found = [*of_builds(now), *of_project(), *of_workers(now)]
    keys = [episode.key for episode in found]
    known = set(Notice.objects.filter(episode__in=keys).values_list("kind", "episode"))
    return sum(record_episode(episode) for episode in found if (episode.kind.value, episode.key) not in known)


def record_episode(episode: Episode) -> bool:
    """Note an episode with what is to be sent of it; False where another worker was faster."""
    with transaction.atomic():
        notice, new = Notice.objects.get_or_create(
            kind=episode.kind,
            episode=episode.key,
            defaults={"build": episode.build, "text": episode.words},
        )
        if new:
            due = timezone.now()
            Delivery.objects.bulk_create(
                Delivery(notice=notice, channel=channel, due_at=due) for channel in list_configured_channels()
            )
    return new


def of_builds(now: datetime) -> Iterator[Episode]:
    """What is to be told of builds as they stand now. Three reads, however many builds there are."""
    standing = Q(state__in=[Build.State.PAUSED, Build.State.WAITING, Build.State.CANARY])
    standing &= ~Q(state=Build.State.WAITING, waits_for=Build.WaitsFor.REPLIES)  # as it does from the start
    ended = Q(state__in=[Build.State.DONE, Build.State.FAILED], finished_at__gte=now - RECENT)
    spending = Q(state=Build.State.RUNNING, tally__cap__gt=0)
    rows: QuerySet[Build] = Build.objects.filter(standing | ended | spending)
    stops = BuildEvent.objects.filter(build=OuterRef("pk"), event__in=STOPS).order_by("-pk")
    rows = rows.annotate(stop=Subquery(stops.values("pk")[:1])).select_related("tally")
    for build in rows.prefetch_related(canary.prefetch_canary()):
        yield from of_state(build)
        yield from of_money(build)


def of_state(build: Build) -> Iterator[Episode]:
    """That a build has ended, or stands still."""
    if build.state in {Build.State.DONE, Build.State.FAILED}:
        said = f"The build failed: {build.reason}" if build.reason else "The build is done."
        yield Episode(Kind.FINISHED, build, f"{build.finished_at}", said)
    elif build.state == Build.State.CANARY:
        row = canary.find_current_canary(build)
        yield Episode(Kind.CANARY, build, f"{row.done_at if row else None}", build.reason)
    elif build.state == Build.State.WAITING and build.next_probe_at:
        said = f"{build.reason} The build tries again by itself."
        yield Episode(Kind.WAITING, build, f"{build.waiting_since}", said)
    elif build.state == Build.State.WAITING:
        said = f"{build.reason} Fix this, then resume the build."
        yield Episode(Kind.STOPPED, build, f"{build.waiting_since}", said)
    elif build.state == Build.State.PAUSED and not is_used_up(build):
        said = build.reason or "The build was paused."
        yield Episode(Kind.STOPPED, build, f"stop {stop_of(build)}", said)


def stop_of(build: Build) -> int | None:
    """The id of the event that stopped the build last."""
    found: int | None = getattr(build, "stop", None)
    return found


def is_used_up(build: Build) -> bool:
    """Whether the build has stopped because its cap leaves nothing for the next call."""
    return build.state == Build.State.PAUSED and build.reason.startswith(budget.USED_UP)


def of_money(build: Build) -> Iterator[Episode]:
    """That most of the cap, or all of it, is spent: once for each cap."""
    tally = build.tally
    if tally.cap is None or build.is_over:
        return
    spent = f"${tally.spent / NANO:,.4f} of ${tally.cap / NANO:,.4f} are spent"
    if is_used_up(build) or (tally.cap and tally.spent >= tally.cap):
        said = f"{spent}; the build waits until its cap is raised."
        yield Episode(Kind.SPENT, build, f"cap {tally.cap}", said)
    elif tally.cap and tally.spent * 5 >= tally.cap * 4:
        yield Episode(Kind.NEARLY_SPENT, build, f"cap {tally.cap}", f"{spent}.")


def of_project() -> Iterator[Episode]:
    """The same of the cap that all live builds share: once for each time that somebody sets it."""
    project = ProjectTally.objects.filter(cap__gt=0).first()
    if project is None or not project.cap or project.spent * 5 < project.cap * 4:
        return
    spent, cap = (f"${amount / NANO:,.4f}" for amount in (project.spent, project.cap))
    words = f"{spent} of the {cap} that all live builds share are spent"
    since = f"cap {ProjectCapChange.objects.values_list('pk', flat=True).first()}"
    if project.spent >= project.cap or stopped_at(project.cap).exists():
        said = f"{words}; builds wait until an admin raises the cap on the dashboard."
        yield Episode(Kind.PROJECT_SPENT, None, since, said)
    else:
        yield Episode(Kind.PROJECT_NEARLY_SPENT, None, since, f"{words}.")


def stopped_at(cap: int) -> QuerySet[Build]:
    """The builds that stopped because this cap of the project left nothing for their next call."""
    return Build.objects.filter(state=Build.State.PAUSED, reason__startswith=budget.project_used_up(cap))


def of_workers(now: datetime) -> Iterator[Episode]:
    """Queues that have had work for five minutes, and no worker."""
    for queue in ("llm", "sandbox", "mining"):
        if not heartbeat.is_due(queue, now):
            continue
        build = find_build_lacking_worker(queue, now)
        since = heartbeat.gone_since(queue, build is not None, now)
        if build is not None and since is not None:
            said = f"No worker of the queue {queue} has been heard of since {since:%Y-%m-%d %H:%M} UTC."
            yield Episode(Kind.NO_WORKER, build, f"{queue} {since}", said)


def find_build_lacking_worker(queue: str, now: datetime) -> Build | None:
    """A build that waits for a worker of `queue`."""
    if queue == "mining":
        own = Q(builds__state=Build.State.RUNNING)
        added = Q(extension__build__state=Build.State.RUNNING, extension__state=Extension.State.MINING)
        minings = Mining.objects.filter(own | added)
        if minings.filter(state=Mining.State.RUNNING, lease_until__gte=now).exists():
            return None
        waits = minings.exclude(state__in=[Mining.State.DONE, Mining.State.FAILED]).first()
        return Build.objects.filter(Q(mining=waits) | Q(extensions__mining=waits)).first() if waits else None
    kind: Queue = "sandbox" if queue == "sandbox" else "llm"
    found = claims.find_claimable_cases(kind, now).order_by().select_related("build__tally")[:1]
    late = Batch.objects.due(now).select_related("build__tally")[: kind == "llm"]
    return next((row.build for row in (*found, *late)), None)


def deliver_one() -> int:
    """Try one message that is due; returns 0 where none is. Raises nothing for a message's sake."""
    now = timezone.now()
    give_up_lost(now)
    due = Delivery.objects.filter(state=Delivery.State.WAITING, due_at__lte=now)
    delivery = due.select_related("notice__build__tally").order_by("due_at", "pk").first()
    if delivery is None or not claim_delivery(delivery, now):
        return 0
    try:
        with no_connection():
            send_delivery(delivery)
    except delivery_channels.NotSent as why:
        record_delivery_failure(delivery, str(why))
    else:
        record_delivery_state(delivery, Delivery.State.SENT)
    return 1


def claim_delivery(delivery: Delivery, now: datetime) -> bool:
    """Make the try this worker's."""
    mine = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.WAITING, tries=delivery.tries)
    return mine.update(state=Delivery.State.SENDING, tries=F("tries") + 1, begun_at=now) == 1


def send_delivery(delivery: Delivery) -> None:
    """Raises NotSent."""
    if delivery.channel == Delivery.Channel.COMMAND:
        delivery_channels.run_notification_command(build_notice_document(delivery.notice))
    else:
        delivery_channels.send_notification_mail(
            format_notice_subject(delivery.notice), format_notice_body(delivery.notice)
        )


def record_delivery_failure(delivery: Delivery, error: str) -> None:
    """Try again a little later, a few times; then it stays failed, and the pages say so."""
    over = delivery.tries + 1 >= TRIES
    state = Delivery.State.FAILED if over else Delivery.State.WAITING
    record_delivery_state(delivery, state, error, due_at=timezone.now() + PAUSE * (delivery.tries + 1))


def record_delivery_state(delivery: Delivery, state: Delivery.State, error: str = "", **columns: Any) -> None:
    """What came of a try; whoever watches the build's page sees it."""
    Delivery.objects.filter(pk=delivery.pk).update(state=state, error=error, **columns)
    if delivery.notice.build is not None:
        delivery.notice.build.tally.change()


def give_up_lost(now: datetime) -> int:
    """Tries whose worker died: whether they got out is not known, so nobody repeats them."""
    lost = Delivery.objects.filter(state=Delivery.State.SENDING, begun_at__lt=now - LOST)
    return lost.update(state=Delivery.State.LOST, error="the worker ended while it was sent; not repeated")


def flush_notifications() -> None:
    """Look once more and send what is due: for whoever is about to end."""
    record_new_episodes()
    while deliver_one():
        pass


def send_test_notifications() -> dict[str, str]:
    """Send a test on every way that is configured, and keep nothing of it.

    By way: what went wrong, empty where nothing did.
    """
    notice = Notice(kind=Kind.TEST, text="Notifications of this workbench arrive here.", at=timezone.now())
    found = {}
    for channel in list_configured_channels():
        try:
            send_delivery(Delivery(notice=notice, channel=channel))
        except delivery_channels.NotSent as why:
            found[channel.label] = str(why)
        else:
            found[channel.label] = ""
    return found


def format_notice_subject(notice: Notice) -> str:
    name = f"{notice_name_of_build(notice.build)}: " if notice.build else ""
    return f"[CoSQA Workbench] {name}{notice.get_kind_display()}"


def notice_name_of_build(build: Build) -> str:
    return build.name[:LONGEST_NAME]


def address_of(build: Build) -> str:
    """The page of the build, at the first origin that is trusted; its path alone where there is none."""
    return build_page_address("build", build.pk)


def format_notice_body(notice: Notice) -> str:
    """The mail's text."""
    build = notice.build
    if build is None:
        return notice.text
    tally = Tally.objects.get(pk=build.pk)
    cap = "no cap" if tally.cap is None else f"of ${tally.cap / NANO:,.4f}"
    finished = tally.settled + tally.abandoned
    lines = (
        notice.text,
        "",
        f"Build: {notice_name_of_build(build)} ({address_of(build)})",
        f"Finished: {finished:,} of {tally.total:,} cases, {tally.abandoned:,} abandoned",
        f"Spent: ${tally.spent / NANO:,.4f}, {cap}",
    )
    return "\n".join(lines)


def build_notice_document(notice: Notice) -> dict[str, Any]:
    """What the command gets: plain JSON, money in dollars."""
    told: dict[str, Any] = {"event": notice.kind, "text": notice.text, "at": notice.at.isoformat()}
    build = notice.build
    if notice.kind in PROJECT:
        project = ProjectTally.objects.now()
        return told | {
            "spent": project.spent / NANO,
            "cap": None if project.cap is None else project.cap / NANO,
        }
    if build is None:
        return told
    tally = Tally.objects.get(pk=build.pk)
    return told | {
        "build": {"id": build.pk, "name": build.name, "state": build.state, "address": address_of(build)},
        "cases": tally.total,
        "settled": tally.settled,
        "abandoned": tally.abandoned,
        "spent": tally.spent / NANO,
        "cap": None if tally.cap is None else tally.cap / NANO,
    }
