"""A build's rounds side by side, what each rule would make of them, and where they part."""

from __future__ import annotations

from typing import Any, Final

from django.http import QueryDict

from annotation.builds.results import rounds
from annotation.builds.results.rounds import Round
from annotation.derived.round_merge import WORDS, Rule, preview_merge
from annotation.models import Build, Case, Merge
from annotation.review.worklists.order import Parted
from annotation.web.shared.pagination import load_page_window
from annotation.web.shared.words import format_percent
from retrieval.metrics.resampling import FEW
from retrieval.models import Annotator

PAGE_SIZE: Final = 20


def rounds_page(build: Build, params: QueryDict) -> dict[str, Any]:
    """The page of a build that was read with its tally and annotator.

    `agreement` is None where no pair was judged twice; `apart` are the cases on which the rounds part.
    """
    found = rounds.rounds_of(build)
    parted = rounds.find_disagreeing_cases(build).select_related("pair__query", "pair__snippet")
    page = load_page_window(parted, ("query_id", "rank", "id"), params, PAGE_SIZE)
    beside = rounds.load_rounds_by_candidate(page.rows)
    alone = build.annotator.kind == Annotator.Kind.SINGLE_LLM
    merges = Merge.objects.filter(build=build)
    return {
        "build": build,
        "pairs": found.pairs,
        "parted": found.parted,
        "rows": [(row, round_counts(row, alone)) for row in found.rounds],
        "said": sorted(found.said.items(), key=lambda row: (-row[1], row[0].matches, row[0].no_matches)),
        "rules": rule_rows(build, found),
        "merges": merges.select_related("asked_by", "annotator")[:PAGE_SIZE],
        "agreement": found.agreement,
        "apart": [(case, beside[case.candidate_id]) for case in page.rows],
        "previous": page.previous,
        "next": page.next,
        "worklist": Parted(),
        "few": FEW,
        # Then the model gives its likeliest answer in every round.
        "likeliest": build.annotator.config.get("sampling", {}).get("temperature") == 0,
    }


def round_counts(found: Round, alone: bool) -> tuple[tuple[str, str, str], ...]:
    """(name, what is said of it, query of its cases in the round, empty where there is none)."""
    unclear = "–" if alone else format_percent(found.unclear, found.screened)
    return (
        ("Settled", f"{found.settled:,} of {found.cases:,}", "stage=settled"),
        ("Matches", format_percent(found.matches, found.settled), "label=1"),
        ("Unclear", unclear, "" if alone else "reached=unclear"),
        ("Abandoned", f"{found.abandoned:,}", "stage=abandoned" if found.abandoned else ""),
    )


def rule_rows(build: Build, found: rounds.Rounds) -> list[dict[str, Any]]:
    """What each rule does, what it would give now, and its last merge."""
    last = {row.rule: row for row in Merge.objects.filter(build=build).order_by("pk")}
    rows = []
    for rule in Rule:
        name, words = WORDS[rule]
        outlook = preview_merge(rule, found.said)
        rows.append({"rule": rule, "name": name, "words": words, "outlook": outlook, "last": last.get(rule)})
    return rows


def links_of(case: Case) -> list[Case]:
    """All rounds of the pair of a case, which is read with its build; nothing where there is one."""
    if case.build.rounds == 1:
        return []
    return rounds.load_rounds_by_candidate([case])[case.candidate_id]
