"""What the small forms need; where CI=true, what is missing fails them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import services
from tests.faults.services import Missing, Postgres


def missing(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def servers() -> None:
    """PostgreSQL and Redis are installed, and tests that need them are wanted."""
    for name in ("COSQA_TEST_DATABASE_URL", "COSQA_TEST_REDIS_URL"):
        if not os.environ.get(name):
            missing(f"{name} is not set")
    try:
        services.binaries()
        services.redis(Path("/nowhere"))
    except Missing as why:
        missing(str(why))


@pytest.fixture
def cluster(servers: None) -> Iterator[Postgres]:
    """A PostgreSQL server of its own, running."""
    with tempfile.TemporaryDirectory(prefix="cosqa-faults-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        server = services.postgres(Path(name))
        server.start()
        try:
            server.ready()
            yield server
        finally:
            server.kill()
