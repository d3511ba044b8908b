"""A full disk: nothing is begun, what was paid is kept until it can be stored, and builds wait for room.

Each process looks at the disk of its data folder before it takes work. An error that says that a disk is full
counts as well: the database may lie on another one.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, TypeVar

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from annotation.builds.limits import circuit_breaker
from annotation.models import Build
from retrieval.disk_space import (
    MEGABYTE,
    describe_full_disk,
    describe_low_space,
    find_free_bytes,
    is_full_disk,
)

T = TypeVar("T")
log = logging.getLogger(__name__)
SECONDS_BETWEEN_LOOKS: Final = 1.0
FIRST_PAUSE_SECONDS: Final = 2.0
LONGEST_PAUSE_SECONDS: Final = 60.0
SECONDS_UNTIL_TRIED_ANYWAY: Final = 600.0


@dataclass
class Gate:
    """What this process knows: why no work is taken, and until when that is not tried again."""

    reason: str = ""
    shut_until: float = 0.0
    pause: float = 0.0
    looked_at: float = -SECONDS_BETWEEN_LOOKS
    is_of_database: bool = False
    was_full_at: float = -math.inf
    lacking: dict[str, tuple[int, float]] = field(default_factory=dict)
    """By the name of what had no room: how much was free when it began, and when it is tried again anyway."""

    def shut(self, reason: str, *, is_of_database: bool = False) -> None:
        """After an error: wait, and twice as long where the next try fails, too."""
        now = self.was_full_at = time.monotonic()
        self.is_of_database |= is_of_database
        if now < self.shut_until:
            return
        again = now - self.shut_until < 2 * LONGEST_PAUSE_SECONDS
        self.pause = (
            min(2 * self.pause, LONGEST_PAUSE_SECONDS) if again and self.pause else FIRST_PAUSE_SECONDS
        )
        self.shut_until, self.reason = now + self.pause, reason
        log.error("%s No work is taken here for %.0f s.", reason, self.pause)

    def look(self) -> str:
        """Why no work is taken now; empty where there is room."""
        now = time.monotonic()
        if now >= self.shut_until and now - self.looked_at >= SECONDS_BETWEEN_LOOKS:
            before, self.reason, self.looked_at = self.reason, find_low_space(), now
            self.is_of_database = False
            if self.reason and not before:
                log.error("%s No work is taken here until then.", self.reason)
        if self.reason:
            self.was_full_at = now
        return self.reason


gate = Gate()


def find_low_space() -> str:
    """Why the disk of the data folder counts as full; empty where it has room."""
    needed, free = settings.DISK_FREE_MB * MEGABYTE, find_free_bytes(settings.COSQA_HOME)
    return describe_low_space(free, needed, settings.COSQA_HOME) if free < needed else ""


def has_room() -> bool:
    """Whether this process may take work; its disk is looked at once a second."""
    return not gate.look()


def have_others_stored() -> bool:
    """Whether there has been room for so long that whoever waited for it has stored what was in memory.

    Before that a lease that has run out, or a call without a word, says nothing of who holds it.
    """
    return time.monotonic() - gate.was_full_at > 2 * LONGEST_PAUSE_SECONDS


def note_full_disk(error: BaseException) -> bool:
    """Whether `error` says that a disk is full; then no work is taken here for a while."""
    if not is_full_disk(error):
        return False
    told = describe_full_disk(error, settings.COSQA_HOME)
    gate.shut(told, is_of_database=isinstance(error, DatabaseError))
    return True


def retry_while_full(action: Callable[[], T]) -> T:
    """Do `action`, and do it again until there is room for it: what it stores is in memory alone."""
    while True:
        try:
            return action()
        except Exception as error:
            if not note_full_disk(error):
                raise
        if not connection.in_atomic_block:
            connection.close()
        while not has_room():
            time.sleep(SECONDS_BETWEEN_LOOKS)


def note_lack(name: str, free: int) -> None:
    """Remember that what is called `name` had no room, although so many bytes were free when it began.

    Where the disk is still full after it has ended, others filled it, and that tells nothing.
    """
    if not find_low_space():
        gate.lacking[name] = (free, time.monotonic() + SECONDS_UNTIL_TRIED_ANYWAY)


def may_have_room(name: str) -> bool:
    """Whether there is more room than when it had too little; now and then that is tried anyway.

    Else what is larger than the disk would fill it again and again, and hold up all others each time.
    """
    free, until = gate.lacking.get(name, (-1, 0.0))
    return time.monotonic() >= until or find_free_bytes(settings.COSQA_HOME) > free


def hold_builds() -> None:
    """Have running builds wait for room, unless it is this machine alone that has none."""
    if gate.is_of_database or not settings.CELERY_BROKER_URL:
        for build in Build.objects.filter(state=Build.State.RUNNING).select_related("tally"):
            circuit_breaker.hold_build_for_disk(build, gate.reason, timedelta(seconds=gate.pause))


def resume_builds() -> None:
    """Let builds go on that waited for room, and are due to try."""
    waiting = Build.objects.filter(state=Build.State.WAITING, waits_for=Build.WaitsFor.DISK)
    for build in waiting.filter(next_probe_at__lte=timezone.now()).select_related("tally"):
        circuit_breaker.resume_after_outage(build)


def is_any_build_waiting() -> bool:
    """Whether a build waits for room, on whatever machine that was found out."""
    return Build.objects.filter(state=Build.State.WAITING, waits_for=Build.WaitsFor.DISK).exists()
