"""Twenty raters on one server, over HTTP; `make raters` lets them rate for longer."""

from __future__ import annotations

import os

import pytest

from tests.raters.drive import rate, site

SECONDS = 9.0


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
def test_raters_lose_nothing_and_overwrite_nobody_while_their_server_is_killed(database: str) -> None:
    """Between the kills all twenty are at work; the audit is the same."""
    with site(postgres() if database == "postgresql" else "") as where:
        told = rate(where, SECONDS, kills=2, pairs=90)
    assert told["decisions"] > 0
    assert told["answers"]["lost"] > 0, "the raters were cut off"
