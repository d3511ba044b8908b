"""Queries whose licence does not allow passing them on, out and in again."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

from retrieval.collections.import_report import Options as ImportOptions
from retrieval.exporting.export_run import Options, export_benchmark
from retrieval.exporting.withheld_counts import queries_withheld_by_policy, withheld_by_policy
from retrieval.exporting.withholding_policy import Withhold
from retrieval.models import Benchmark, Member
from retrieval.releases import import_release
from tests import factories
from tests.retrieval.exporting.conftest import benchmark, lines, loaded

pytestmark = pytest.mark.django_db


@pytest.fixture
def plain() -> Benchmark:
    """Three queries, four snippets; the first query has a match and one that is none, the second a match."""
    return benchmark()


@pytest.mark.parametrize("policy", [Withhold.FORBIDDEN, Withhold.UNKNOWN])
def test_a_query_that_may_not_be_passed_on_is_origin_and_hash(
    plain: Benchmark, tmp_path: Path, policy: Withhold
) -> None:
    query = plain.queries.members.get(position=1)
    said = {Withhold.FORBIDDEN: ("CC-BY-NC-4.0", "forbidden"), Withhold.UNKNOWN: ("", "unstated")}[policy]
    Member.objects.filter(pk=query.pk).update(licence=said[0], origin="somewhere")
    done = export_benchmark(plain, "release", tmp_path, Options(split=1, withhold=policy))
    assert (done.queries, done.withheld_queries, done.withheld_queries_for) == (2, 1, {said[1]: 1})
    assert (done.snippets, done.withheld, done.pairs) == (4, 0, 2)
    assert f"1 query withheld by policy {policy}" in str(done.warnings)
    assert "query passed on" not in str(done.warnings)
    (told,) = lines(tmp_path, "provenance/withheld.jsonl")
    assert (told["query-idx"], told["sha256"], told["origin"]) == (1, query.text.digest, "somewhere")
    assert (told["licence"], told["reason"]) == said
    (pair,) = lines(tmp_path, "provenance/withheld_pairs.jsonl")
    assert (pair["query-idx"], pair["code-idx"], pair["relevance"]) == (1, 1, 1)
    manifest = loaded(tmp_path, "workbench.json")
    assert (manifest["queries"], manifest["withheld_queries"], manifest["withheld"]) == (2, 1, 0)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or factories.QUERIES[1] not in path.read_text()


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_import_says_what_the_release_withholds(
    plain: Benchmark, tmp_path: Path, dry_run: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    for members, position in ((plain.queries, 1), (plain.snippets, 0)):
        Member.objects.filter(collection=members, position=position).update(licence="Proprietary")
    export_benchmark(plain, "release", tmp_path, Options(withhold=Withhold.FORBIDDEN))
    call_command("import", "release", str(tmp_path), name="again", dry_run=dry_run)
    told = capsys.readouterr().out
    assert "withholds it for its licence: 1 query, 1 function, 2 labelled pairs (" in told
    found = Member.objects.filter(collection__name="again", collection__kind="queries").order_by("position")
    assert dry_run or list(found.values_list("source_id", "licence")) == [
        ("queries-0", "MIT"),
        ("queries-2", "MIT"),
    ]
    Member.objects.update(licence="MIT")
    export_benchmark(plain, "release", tmp_path, Options(withhold=Withhold.FORBIDDEN))
    call_command("import", "release", str(tmp_path), name="whole", dry_run=dry_run)
    assert "Missing" not in capsys.readouterr().out


def test_policies_count_by_the_licences_of_their_own_benchmark(plain: Benchmark, tmp_path: Path) -> None:
    export_benchmark(plain, "release", tmp_path, Options())
    Member.objects.filter(collection__in=(plain.queries, plain.snippets)).update(licence="Proprietary")
    again = import_release(tmp_path, "again", ImportOptions()).benchmark
    assert again is not None and again.digest == plain.digest
    for count, of_plain in ((withheld_by_policy, 4), (queries_withheld_by_policy, 3)):
        assert count(plain)[Withhold.FORBIDDEN] == of_plain
        assert count(again)[Withhold.FORBIDDEN] == 0
