"""Every page that people read is looked at in a browser: a new route is added there, or said here why not."""

from __future__ import annotations

import re
from typing import Final

from django.urls import Resolver404, resolve

from tests.e2e.pages import PLACES
from tests.site.roles import PUBLIC, ROLES, SIGNED_IN
from tests.site.test_access import Route, ours

SENT_ONLY: Final = {
    "adjudication-run",
    "benchmark-compare-pin",
    "benchmark-corpus-pin",
    "build-pin",
    "build-reply",
    "build-mining-pin",
    "compare-pin",
    "pin-again",
    "benchmark-filled",
    "benchmark-figures",
    "benchmark-pin",
    "benchmark-score-cancel",
    "benchmark-train-continue",
    "benchmark-train-stop",
    "benchmark-queue",
    "build-corpus-pin",
    "build-write-again",
    "collection-corpus-pin",
    "history-restore",
    "import-cancel",
    "invitation-revoke",
    "logout",
    "proposal-decide",
    "proposal-draft",
    "proposal-run",
    "proposal-undo",
    "review-comment",
    "flag-answer",
    "review-list-change",
    "review-list-saved",
    "rate-assertion",
    "rate-call",
    "rate-draft",
    "rate-heartbeat",
    "rate-restore",
    "rate-run",
    "rate-skip",
    "rate-submit",
    "rate-undo",
    "review-as-before",
    "review-assertion",
    "review-call",
    "review-draft",
    "review-label",
    "review-layout",
    "review-run",
    "review-undo",
    "study-figures-pin",
    "study-figures-score",
    "study-raters",
    "token-withdraw",
    "webhook-delivery-again",
    "webhook-switch",
    "webhook-test",
}
"""They change something, and lead on to a page that is looked at."""
FRAGMENTS: Final = {
    "benchmark-contamination-jobs",
    "benchmark-distractor-jobs",
    "benchmark-similarity-jobs",
    "benchmark-export-jobs",
    "benchmark-holes-jobs",
    "benchmark-score-jobs",
    "benchmark-train-jobs",
    "benchmark-upload-jobs",
    "build-progress",
    "build-publish-jobs",
    "collection-filter-jobs",
    "import-jobs",
    "pin-again-jobs",
    "study-progress",
}
"""Parts of a page that is looked at, as it looks a moment later."""
FILES: Final = {
    "audit-export",
    "benchmark-export",
    "build-order",
    "build-requests",
    "build-written",
    "case-candidate",
    "documentation",
    "documentation-file",
    "pin-download",
    "rate-snippet",
    "study-figures-download",
    "study-plan",
    "study-ratings",
}
"""Nothing to look at, but for the documentation, which has a test of its own in tests/e2e."""
LISTS: Final = {"adjudication", "proposals", "rate", "review"}
"""They are part of Your work now."""
LEADS_ON: Final = {
    "password_change_done",
    "sign-in",
    "sign-in-back",
    "health",
    "distribution",
    "pins",
    "compare-annotators",
    *LISTS,
}
"""Redirects (some from where pages were before), a page of two words after a form, and JSON for machines."""


def test_every_page_is_looked_at_in_a_browser() -> None:
    looked_at = {pattern_of(place.path) for place in PLACES}
    missing = {route.name for route in pages() if route.path not in looked_at}
    assert missing == SENT_ONLY | FRAGMENTS | FILES | LEADS_ON


def pages() -> list[Route]:
    """All routes but the API's."""
    named = set().union(PUBLIC, SIGNED_IN, *ROLES.values())
    return [route for route in ours() if route.name in named and not route.name.startswith("api:")]


def pattern_of(path: str) -> str:
    """The route of an address with numbers for its names; one that leads nowhere as it is."""
    found = re.sub(r"{\w+}", "1", path).partition("?")[0]
    try:
        return resolve(found).route
    except Resolver404:
        return found
