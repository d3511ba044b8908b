"""What to install where no test program can run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from django.conf import settings

PYTHON: Final = Path("/usr/bin/python3")
DOCKER_SOCKET: Final = Path("/var/run/docker.sock")
MISSING: Final = (
    "No sandbox: test programs can't run here. Install one: 'sudo apt install bubblewrap python3' "
    "(Fedora: 'sudo dnf install bubblewrap python3'), or Docker."
)


def find_missing_sandbox() -> str:
    """One line that says what to install; empty where a sandbox may open, where none is wanted, and where
    Celery's workers do the work, which may be on other machines.
    """
    backend = "none" if settings.CELERY_BROKER_URL else settings.SANDBOX_BACKEND
    has_bubblewrap = shutil.which("bwrap") is not None and PYTHON.exists()
    has_docker = bool(settings.DOCKER_HOST) or DOCKER_SOCKET.exists()
    may_open = {
        "none": True,
        "bubblewrap": has_bubblewrap,
        "docker": has_docker,
        "auto": has_bubblewrap or has_docker,
    }
    return "" if may_open[backend] else MISSING
