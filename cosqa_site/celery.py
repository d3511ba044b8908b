"""The Celery app; importing it starts nothing."""

from __future__ import annotations

import os
import sys
from typing import Any

from celery import Celery
from celery.signals import worker_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
app = Celery("cosqa")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["annotation.jobs"], related_name="celery_tasks")


@worker_init.connect
def wait_until_prepared(**_: Any) -> None:
    """Start no worker before a server has made the tables."""
    from cosqa_site.service import (  # import models, which this module must not need
        applied_migrations,
        startup,
    )

    try:
        startup.wait_until_prepared()
    except applied_migrations.DatabaseNotReady as why:
        sys.exit(str(why))
