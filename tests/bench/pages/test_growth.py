"""The bench of pages in its smallest form: it opens whatever can be read, and leaves nothing behind."""

from __future__ import annotations

import re
from typing import Final

from django.urls import resolve

from annotation.models import Seen
from bench.pages import growth
from bench.pages.addresses import PLACES
from bench.seed import database
from bench.seed.plan import SeedingPlan
from tests.site.roles import ROLES
from tests.site.test_access import ours

TINY: Final = SeedingPlan(cases=110, snippets=60, reviewed=2)
MOVED: Final = {"adjudication", "compare-annotators", "distribution", "pins", "proposals", "rate", "review"}
"""Where pages were before: they lead to where these are."""
CHANGING: Final = {
    "review-comment",
    "flag-answer",
    "benchmark-compare-pin",
    "benchmark-corpus-pin",
    "build-pin",
    "build-mining-pin",
    "compare-pin",
    "pin-again",
    "import-cancel",
    "invitation-revoke",
    "benchmark-figures",
    "benchmark-filled",
    "benchmark-score-cancel",
    "benchmark-train-continue",
    "benchmark-train-stop",
    "benchmark-queue",
    "build-corpus-pin",
    "collection-corpus-pin",
    "benchmark-pin",
    "study-figures-pin",
    "review-label",
    "review-layout",
    "rate-leave",
    "rate-restore",
    "rate-submit",
    "rate-skip",
    "rate-draft",
    "rate-heartbeat",
    "rate-undo",
    "rate-run",
    "rate-call",
    "rate-assertion",
    "review-list-change",
    "review-list-saved",
    "review-undo",
    "review-draft",
    "review-run",
    "review-call",
    "review-assertion",
    "review-as-before",
    "adjudication-run",
    "token-withdraw",
    "webhook-delivery-again",
    "webhook-switch",
    "webhook-test",
}
NOT_SEEDED: Final = {
    "webhook",
    "webhook-delete",
    "api:get_webhook",
    "api:list_deliveries",
    "person",
    "person-change",
    "build-reply",
    "build-reply-next",
    "build-requests",
    "benchmark",
    "benchmark-pin",
    "benchmark-corpus",
    "benchmark-query",
    "benchmark-compare",
    "benchmark-holes",
    "benchmark-holes-jobs",
    "benchmark-upload",
    "upload-columns",
    "benchmark-upload-jobs",
    "benchmark-contamination",
    "benchmark-contamination-jobs",
    "benchmark-distractors",
    "benchmark-distractor-jobs",
    "benchmark-similarity",
    "benchmark-similarity-jobs",
    "benchmark-score",
    "benchmark-score-jobs",
    "benchmark-train",
    "benchmark-train-jobs",
    "benchmark-trained",
    "benchmark-training",
    "pin",
    "pin-download",
    "pin-again-jobs",
    "benchmark-export",
    "benchmark-export-jobs",
    "benchmark-exports",
    "api:get_drift",
    "api:get_benchmark",
    "api:get_benchmark_corpus",
    "api:get_columns",
    "api:get_export_file",
    "api:get_job",
    "api:get_leaderboard",
    "api:get_trained_systems",
    "api:get_part",
    "api:get_pin",
    "api:get_study_figures",
    "api:get_study_publication",
    "api:list_runs",
    "api:compare_versions",
    "api:list_drift_pairs",
    "api:get_plan",
    "api:get_study",
    "api:list_ratings",
    "api:list_studies",
    "api:get_function",
    "api:get_pair",
    "api:get_recent_ratings",
    "api:list_functions",
    "api:list_written",
    "build-again",
    "build-audit",
    "build-correct",
    "api:get_audit",
    "api:list_audited",
    "build-merge",
    "build-write-again",
    "build-written",
    "proposal",
    "proposal-decide",
    "proposal-draft",
    "proposal-ran",
    "proposal-run",
    "proposal-undo",
    "proposals",
    "proposals-listed",
    "proposals-next",
    "rate-study",
    "rate-guidelines",
    "rate-next",
    "rate-pair",
    "rate-ran",
    "rate-snippet",
    "rate-answer",
    "rate-strength",
    "rate-trial",
    "home",
    "build-canary",
    "extension-canary",
    "build-drift",
    "api:get_canary",
    "api:get_extension_canary",
    "connection-test",
    "review-answer",
    "review-execution",
    "review-trial",
    "adjudication-queue",
    "adjudication-pair",
    "api:list_decisions",
    "api:get_call",
    "api:get_connection_test",
    "api:get_function_run",
    "api:get_guideline",
    "api:get_rater_call",
    "api:get_rater_run",
    "api:get_rater_strength",
    "api:get_run",
    "api:get_strength",
    "api:get_study_scores",
    "api:list_raters",
    "api:list_unjudged_builds",
    "audit-export",
    "guideline",
    "guideline-edit",
    "history-restore",
    "study",
    "study-again",
    "study-amend",
    "study-control",
    "study-edit",
    "study-plan",
    "study-progress",
    "study-publish",
    "study-raters",
    "study-ratings",
    "study-figures",
    "study-figures-download",
    "study-figures-pairs",
    "study-figures-pin",
    "study-figures-score",
}
"""Redirects, and what stands on rows that are not seeded; their pages read a handful of rows by key."""


def test_every_page_is_opened_and_nothing_is_written(transactional_db: None) -> None:
    database.fill_seeded_database(TINY)
    found = dict(growth.looks_of_all())
    assert set(found) == {place.name for place in PLACES}
    assert {name: look for name, look in found.items() if not 0 < look.queries <= 40} == {}
    assert not Seen.objects.exists()


def test_what_grows_is_told() -> None:
    few, many = ([growth.Look(seconds, 3)] * 5 for seconds in (0.01, 0.04))
    assert growth.summarize_page_times(few, many)["growth"] == 4


def test_every_route_that_can_be_read_is_there() -> None:
    opened = {pattern_of(place.path) for place in PLACES}
    read = {
        route for route in ours() if route.name in set().union(*ROLES.values()) and "get" in route.methods
    }
    missing = {route.name for route in read if route.path not in opened}
    assert missing <= CHANGING | NOT_SEEDED | MOVED


def pattern_of(path: str) -> str:
    return resolve(re.sub(r"{\w+}", "1", path).partition("?")[0]).route
