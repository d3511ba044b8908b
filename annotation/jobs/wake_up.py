"""Have a worker on another machine look now; threads of this one look by themselves.

Celery is imported where there is a broker: a server on one machine needs none of it.
"""

from __future__ import annotations

import logging
from typing import Literal

from django.conf import settings

log = logging.getLogger(__name__)


def wake_workers(queue: Literal["interactive", "llm", "mining", "training"] = "interactive") -> None:
    """Have a worker look now at what people wait for, not at the next beat."""
    if not settings.CELERY_BROKER_URL:
        return
    from celery.exceptions import OperationalError

    from annotation.jobs import celery_tasks

    tasks = {
        "interactive": celery_tasks.drain_interactive,
        "llm": celery_tasks.drain_llm,
        "mining": celery_tasks.drain_mining,
        "training": celery_tasks.drain_training,
    }
    try:
        tasks[queue].apply_async(expires=celery_tasks.EXPIRES_SECONDS, retry=False)
    except OperationalError:
        log.warning("the broker does not answer: people wait for the next beat")
