"""Writes a mining's progress and its end to its row."""

from __future__ import annotations

import time

from django.utils import timezone

from retrieval.models import Mining

SECONDS_BETWEEN_REPORTS = 0.5


class Reporter:
    """Writes a mining's progress to its row, at most twice a second."""

    def __init__(self, mining: Mining) -> None:
        self.mining = mining
        self.last = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.last < SECONDS_BETWEEN_REPORTS and done < total:
            return
        self.last = now
        Mining.objects.filter(pk=self.mining.pk).update(phase=phase[:80], done=done, total=total)


def fail_mining(mining: Mining, why: str) -> None:
    """Close the mining's row."""
    Mining.objects.filter(pk=mining.pk).update(
        state=Mining.State.FAILED, message=why, lease_until=None, finished_at=timezone.now()
    )
