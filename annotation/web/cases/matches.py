"""A query's matches side by side: how their code differs, and which assertions each passes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db.models import QuerySet
from django.http import QueryDict

from annotation.models import Build, Case
from annotation.review.hidden_labels import counted_label, find_hidden_pairs
from annotation.web.browse.page import counts_of
from annotation.web.cases.candidates import CandidateLabel, agents_said, others_said
from annotation.web.cases.code import LIST_BOUNDS
from annotation.web.cases.differences import compare_snippets, side_of, stand_in
from annotation.web.cases.labels_in_force import ShownLabel, load_shown_labels
from annotation.web.cases.traces import shorten_trace_value
from annotation.web.shared.pagination import load_page_window
from annotation.web.shared.words import Sign
from retrieval.models import Text
from sandbox.program import candidate_names
from sandbox.reports.report import Assertion, Report

PAGE_SIZE = 6
MOST_ASSERTIONS = 100
PASSED: Final = Sign("✓", "passed", "good")
FAILED: Final = Sign("✗", "failed", "bad")
PLAIN: Final = "plain"
VIEWS: Final = (PLAIN, "columns", "unified")
"""The code alone, with marks where it differs from the base, or with what the base has instead."""
NOT_RUN: Final = Sign("–", "not run", "quiet")


def matches_page(
    build: Build, visible: QuerySet[Build], query: Text, params: QueryDict, user: Any = None
) -> dict[str, Any]:
    """Up to six of the query's matches by rank; `base` is the case that the others are compared with.

    `place` says which page of the matches this is, for a form that stays on it. Matches are those that
    `user` may know of; None: who sees all.
    """
    column = counted_label(user, build)
    rows = Case.objects.filter(build=build, query=query, round=1, **{column: 1})
    related = "annotator", "pair__snippet__body", "execution__report"
    page = load_page_window(rows.select_related(*related), ("rank", "id"), params, PAGE_SIZE)
    reports = {case.pk: case.execution.whole_report() for case in page.rows if case.execution}
    table = assertion_rows(page.rows, reports)
    cases, wanted = page.rows, params.get("base", "")
    base = next((case for case in cases if str(case.pk) == wanted), cases[0] if cases else None)
    counts = counts_of(build, [query.pk], column)[query.pk]
    view = params.get("view") if params.get("view") in VIEWS else PLAIN
    hidden = find_hidden_pairs(user, build, [case.pair_id for case in cases])
    return {
        "build": build,
        "query": query,
        "counts": counts,
        "total": counts.matches,
        "matches": matches_of(
            page.rows,
            None if view == PLAIN else base,
            others_said(page.rows, visible, hidden),
            load_shown_labels(page.rows, build.reviews_needed, hidden),
        ),
        "pairs": [case.pair_id for case in page.rows],
        "base": base,
        "view": view,
        "assertions": table[:MOST_ASSERTIONS],
        "more_assertions": max(0, len(table) - MOST_ASSERTIONS),
        "untested": len(page.rows) - len(reports),
        "place": next(((name, params.get(name, "")) for name in ("after", "before") if name in params), None),
        "previous": page.previous,
        "next": page.next,
    }


def matches_of(
    cases: Sequence[Case],
    base: Case | None,
    others: Mapping[int, list[CandidateLabel]],
    in_force: Mapping[int, ShownLabel],
) -> list[dict[str, Any]]:
    """Each match with its labels and code; `difference` is None for the base, and for all without a base."""
    sides = {
        case.pk: side_of(case.pair.snippet.text, f"Match {case.rank}", f"m{case.rank}", LIST_BOUNDS)
        for case in cases
    }
    return [
        {
            "case": case,
            "in_force": in_force[case.pk],
            "labels": [*agents_said(case), *others[case.pair_id]],
            "code": sides[case.pk].code,
            "difference": compare_snippets(sides[base.pk], sides[case.pk])
            if base and case is not base
            else None,
        }
        for case in cases
    ]


def assertion_rows(cases: Sequence[Case], reports: Mapping[int, Report]) -> list[dict[str, Any]]:
    """Every assertion of these cases' executions, by its source text, with what each execution says of it.

    First come those that divide the matches: one passes what another fails; else they are as they came.
    """
    by_source: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for case in cases:
        if case.pk in reports:
            for source, cell in cells_of(case, reports[case.pk]).items():
                by_source[source][case.pk] = cell
    rows = []
    for source, found in by_source.items():
        cells = [found.get(case.pk) or {"case": case, "sign": NOT_RUN} for case in cases]
        divides = {PASSED, FAILED} <= {cell["sign"] for cell in cells}
        rows.append({"source": source, "cells": cells, "divides": divides})
    return sorted(rows, key=lambda row: not row["divides"])


def cells_of(case: Case, report: Report) -> dict[str, dict[str, Any]]:
    """By assertion, what this execution says of it; one failed evaluation is enough to fail it."""
    names = frozenset(candidate_names(case.pair.snippet.text))
    cells: dict[str, dict[str, Any]] = {}
    for assertion in report.assertions:
        source = shorten_trace_value(" ".join(stand_in(assertion.source, names).split()))
        if source not in cells or not assertion.passed:
            cells[source] = cell_of(case, assertion)
    return cells


def cell_of(case: Case, assertion: Assertion) -> dict[str, Any]:
    """What one match's execution says about an assertion; `line` is in its test program."""
    values = ""
    if not assertion.passed and assertion.left is not None:
        unequal = assertion.inequality
        got, expected = (unequal.got, unequal.expected) if unequal else (assertion.left, assertion.right)
        right = "" if expected is None else f", not {expected}"
        values = shorten_trace_value(f"{got}{right}")
    sign = PASSED if assertion.passed else FAILED
    return {"case": case, "sign": sign, "line": assertion.line, "values": values}
