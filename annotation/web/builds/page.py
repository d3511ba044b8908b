"""What the pages of builds show."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from annotation.builds.limits import canary as canaries
from annotation.builds.results import history, position_bias, progress
from annotation.derived.rerun import sent_back
from annotation.models import Build, BuildEvent, Rerun
from annotation.pins.minings import has_figures
from annotation.web.builds import batches, notices, stops
from annotation.web.builds.annotator_switches import list_annotator_switches, list_mining_switches
from annotation.web.builds.controls import list_build_controls
from annotation.web.builds.figures import summarize_build_figures
from annotation.web.builds.trends import build_progress_trend
from annotation.web.canary import page
from annotation.web.cases.abandonment import group_abandoned_cases
from annotation.web.derived.extension import list_build_extensions
from annotation.web.drift.page import build_drift_card
from annotation.web.missing_functions.page import build_missing_card
from annotation.web.money import estimates
from annotation.web.money.embedding_costs import list_embedding_costs
from annotation.web.money.page import build_money
from annotation.web.pins.used_models import is_unknown
from annotation.web.shared.mining_words import QUERY_RULES
from retrieval.filters.queries import QueryRule
from retrieval.mining.search_scope import scope_of_mining
from retrieval.models import Mining

EVENTS = 20
CAUSES = 5
"""The causes on the build's own page; the page of abandoned cases has more."""


def progress_page(build: Build) -> dict[str, Any]:
    """The live part of a build's page, the same for the page, the polled fragment and the websocket."""
    shot = progress.take_progress_snapshot(build)
    build, tally = shot.build, shot.tally
    by_query = canaries.by_query(build)
    since, until = history.find_build_start(build), build.finished_at or timezone.now()
    return {
        "build": build,
        "shot": shot,
        "figures": summarize_build_figures(shot, (until - since).total_seconds() / 60 if since else None),
        "groups": group_abandoned_cases(build, tally, CAUSES),
        "trend": build_progress_trend(shot, timezone.now()),
        "events": BuildEvent.objects.filter(build=build).select_related("user")[:EVENTS],
        "controls": list_build_controls(build),
        "canaries": page.build_canary_cards(build),
        "told": notices.told_of(build),
        "extensions": list_build_extensions(build),
        "drift": build_drift_card(build, tally),
        "batches": batches.load_open_batches(build),
        "stop": stops.load_stop(build, tally),
        "screens_by_query": by_query,
        # As somebody's look at the distribution found it: to find it every case is read.
        "place_effect": position_bias.find_cached_position_bias(build) if by_query else None,
        "money": build_money(build, tally),
        "missing": build_missing_card(build),
        "comparison": estimates.compare_build_estimate(build, tally),
    }


def build_page(build: Build) -> dict[str, Any]:
    """The whole page: the live part and what was ordered. `sent_back`: tests to be written again."""
    live = progress_page(build)
    mining = live["shot"].mining
    asked = mining.query_rule if mining else 0
    return live | {
        "rerun": Rerun.objects.filter(build=live["build"]).select_related("of").first(),
        "scope": scope_of_mining(mining) if mining else None,
        "query_rules": "; ".join(words for name, words in QUERY_RULES if QueryRule[name.upper()] & asked),
        "embedded": list(list_embedding_costs(mining)) if mining else [],
        "sent_back": sent_back.find_cases_awaiting_test(build).count(),
        "switches": list_annotator_switches(build.annotator) + list_mining_switches(build),
        "mining_figures": mining is not None and mining.state == Mining.State.DONE and has_figures(mining),
        "weights_unknown": mining is not None and is_unknown(mining),
    }
