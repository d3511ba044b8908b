"""Twenty raters on one server, over HTTP; `make raters` lets them rate for longer."""

from __future__ import annotations

import os

import pytest

from tests.raters.drive import rate, site

SECONDS = 6.0


def postgres() -> str:
    """The server for tests; without it the test skips, and fails where CI=true."""
    url = os.environ.get("COSQA_TEST_DATABASE_URL", "")
    if not url:
        reason = "COSQA_TEST_DATABASE_URL is not set"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return url


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_twenty_raters_lose_nothing_and_nobody_overwrites_anybody(database: str) -> None:
    with site(postgres() if database == "postgresql" else "") as where:
        told = rate(where, SECONDS, pairs=90)
    assert told["decisions"] > 0


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_server_that_is_killed_while_it_stores_loses_nothing_that_it_said_is_stored(database: str) -> None:
    with site(postgres() if database == "postgresql" else "") as where:
        told = rate(where, 2 * SECONDS, kills=2, pairs=90)
    assert told["decisions"] > 0
    assert told["answers"]["lost"] > 0, "the raters were cut off"
