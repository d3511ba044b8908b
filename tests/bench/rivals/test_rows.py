"""All tools get the rows that our own database is filled with."""

from __future__ import annotations

import pytest

from annotation.models import Build, Case
from bench.rivals.rows import lean_rows, plan_of, whole_rows
from bench.rivals.tool import FILTER
from bench.seed import database

COUNT = 110


@pytest.fixture
def build(transactional_db: None) -> Build:
    database.fill_seeded_database(plan_of(COUNT))
    return Build.objects.get(name=database.FINISHED)


def test_they_are_the_seeded_cases(build: Build) -> None:
    rows = {row.number: row for row in whole_rows(COUNT)}
    cases = Case.objects.filter(build=build).select_related("program__source")
    found = cases.select_related("pair__query__body", "pair__snippet__body", "program__source")
    assert len(found) == len(rows) == COUNT
    for case in found:
        row = rows[case.pk]
        assert (row.query, row.code) == (case.pair.query.text, case.pair.snippet.text)
        assert row.score == case.score
        assert row.test == (case.program.source.text if case.program else "")
        last = case.steps.order_by("number").last()
        assert last is not None
        assert row.explanation == last.note


def test_a_third_has_a_test_and_its_trace() -> None:
    rows = whole_rows(1000)
    tested = [row for row in rows if row.test]
    assert 250 < len(tested) < 400
    assert all(row.trace.startswith("outcome: ") for row in tested)
    assert not any(row.trace for row in rows if not row.test)


def test_the_filter_finds_some_of_them_and_not_all() -> None:
    rows = whole_rows(5000)
    hits = [row for row in rows if FILTER in row.query]
    assert 50 < len(hits) < 1000
    assert not any(FILTER in row.code for row in rows)


def test_no_two_parts_of_an_import_share_a_row() -> None:
    parts = [lean_rows(100, part) for part in (1, 2, 3)]
    queries = {row.query for part in parts for row in part}
    codes = {row.code for part in parts for row in part}
    assert len(queries) == len(codes) == 300
    assert set(parts[0][0].lean) == {"number", "query", "code"}
