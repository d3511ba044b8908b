"""Pages of benchmarks: who stands where, one query's lists side by side, and from whom they are kept."""

from __future__ import annotations

import shlex
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from pytest_django import DjangoAssertNumQueries

from annotation.accounts.roles import Role, give_role
from annotation.models import Condition, Seen
from retrieval.collections.import_report import Options
from retrieval.collections.importer import import_items
from retrieval.evaluation.content import content_of
from retrieval.evaluation.leaderboard import build_leaderboard
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.system_run import DEFAULT_MEASURES, evaluate_file
from retrieval.metrics.names import parse_measures
from retrieval.mining import perform_mining
from retrieval.models import Annotator, Benchmark, KeptFigures, Label, Pair, Pool
from retrieval.sources import GivenLabel, Item, Query, Snippet
from tests import factories, studies

pytestmark = pytest.mark.django_db
RUNS = {
    "good": "queries-0 Q0 snippets-0 1 2 x\nqueries-0 Q0 snippets-1 2 1 x\nqueries-1 Q0 snippets-1 1 1 x\n",
    "<b>bad": "queries-0 Q0 elsewhere 1 2 x\nqueries-0 Q0 snippets-3 2 1 x\n",
}


@pytest.fixture
def benchmark_() -> Benchmark:
    """Two queries with a match each, one pair that is no match."""
    queries, snippets = factories.queries(), factories.snippets()
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for (query, snippet), value in {(0, 0): 1, (0, 1): 0, (1, 1): 1}.items():
        ids = (queries.members.get(position=query).text_id, snippets.members.get(position=snippet).text_id)
        Label.objects.create(pair=Pair.objects.keep_all([ids])[0], annotator=by, value=value)
    return publish_benchmark(Order("small <i>", queries, snippets, "by hand"), Label.objects.all())


@pytest.fixture
def scored(benchmark_: Benchmark, tmp_path: Path) -> Benchmark:
    for name, text in RUNS.items():
        path = tmp_path / "a.run"
        path.write_text(text)
        evaluate_file(path, name, content_of(benchmark_), Pool.COLLECTION, parse_measures(["mrr", "ndcg@10"]))
    return benchmark_


def told(client: Client, name: str, *keys: int, **asked: str | int) -> str:
    answer = client.get(reverse(name, args=keys), asked)
    assert answer.status_code == 200
    return answer.content.decode()


def test_without_any_the_list_says_how_to_get_one(ray: Client) -> None:
    assert "No benchmark yet" in told(ray, "benchmarks")


def test_the_list_leads_to_each(ray: Client, scored: Benchmark) -> None:
    text = told(ray, "benchmarks")
    assert "small &lt;i&gt;, version 1" in text
    assert reverse("benchmark", args=[scored.pk]) in text


def test_systems_stand_with_interval_judged_share_and_difference(ray: Client, scored: Benchmark) -> None:
    text = told(ray, "benchmark", scored.pk, metric="mrr")
    assert text.index("good") < text.index("&lt;b&gt;bad")
    for words in (
        "1.000",
        "100%",
        "0%",
        "share of judged results",
        "fewer of its results are judged",
        "after Holm",
    ):
        assert words in text
    assert "With fewer than 30 queries" in text
    assert (
        reverse("benchmark-query", args=[scored.pk, scored.queries.members.get(position=0).text_id]) in text
    )


def test_what_condensed_lists_say_is_known_without_a_look_through_the_labels(
    ray: Client, scored: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = Order("matches alone", scored.queries, scored.snippets, "by hand")
    alone = publish_benchmark(order, Label.objects.filter(value=1))
    path = tmp_path / "a.run"
    path.write_text(RUNS["good"])
    evaluate_file(path, "good", content_of(alone), Pool.COLLECTION, parse_measures(["mrr"]))
    for one in (scored, alone):
        build_leaderboard(one, Pool.COLLECTION)
    monkeypatch.setattr(Benchmark, "has_judged_non_matches", property(lambda _: pytest.fail("it looked")))
    words = "has a judged “no match”, so the lists without"
    assert words not in told(ray, "benchmark", scored.pk)
    assert words in told(ray, "benchmark", alone.pk)


def test_the_table_stays_narrow_and_its_columns_are_chosen(
    ray: Client, benchmark_: Benchmark, tmp_path: Path
) -> None:
    path = tmp_path / "a.run"
    path.write_text(RUNS["good"])
    wanted = parse_measures(DEFAULT_MEASURES.split(","))
    assert {"success@1", "success@3", "success@5", "success@10"} < {one.name for one in wanted}
    evaluate_file(path, "good", content_of(benchmark_), Pool.COLLECTION, wanted)

    def columns(**asked: str | list[str]) -> list[str]:
        answer = ray.get(reverse("benchmark", args=[benchmark_.pk]), asked)
        page = answer.context["page"]
        assert [cell["metric"] for cell in page["rows"][0]["cells"]] == page["shown"]
        return list(page["shown"])

    assert columns() == ["ndcg@10", "mrr@10", "mrr", "map@10", "recall@10", "success@1"]
    assert columns(show=["success@3", "success@5", "nonsense"]) == ["ndcg@10", "success@3", "success@5"]
    assert columns(show=["success@3"], metric="success@5") == ["success@3", "success@5"]
    assert "success@10</option>" in told(ray, "benchmark", benchmark_.pk)


def test_whatever_is_asked_there_is_a_page(ray: Client, scored: Benchmark) -> None:
    for asked in (
        {"found": "5+"},
        {"metric": "\x00"},
        {"pool": "candidates"},
        {"found": "x", "pool": "y"},
    ):
        told(ray, "benchmark", scored.pk, **asked)
    assert "No run yet" in told(ray, "benchmark", scored.pk, pool="candidates")


def test_a_range_without_a_query_says_so_instead_of_empty_tables(ray: Client, scored: Benchmark) -> None:
    text = told(ray, "benchmark", scored.pk, found="5+")
    assert "No query has that many matches" in text and "too short" not in text
    assert "How many results are judged" not in text


def test_a_query_has_its_lists_side_by_side(ray: Client, scored: Benchmark) -> None:
    query = scored.queries.members.get(position=0).text_id
    text = told(ray, "benchmark-query", scored.pk, query)
    for words in ("not in the benchmark", "no match", "unjudged", "Matches are at rank: 1", "not found"):
        assert words in text
    one = scored.runs.get(system="good")
    assert "&lt;b&gt;bad" not in told(ray, "benchmark-query", scored.pk, query, run=one.pk)
    assert "&lt;b&gt;bad" in told(ray, "benchmark-query", scored.pk, query, run="x")


def test_two_ids_of_one_text_stand_apart_where_labels_go_by_ids(ray: Client, tmp_path: Path) -> None:
    asked, code = "last element", "def last(xs):\n    return xs[-1]"
    items: list[Item] = [Query(asked, "q1"), Query(asked, "q2"), Snippet(code, "s1"), Snippet(code, "s2")]
    label = GivenLabel(asked, code, 1, "binary", "q1", "s2")
    made = import_items([*items, label], "copies", "copies", Options()).benchmark
    assert made is not None
    run = tmp_path / "a.run"
    run.write_text("q1 Q0 s1 1 2 x\nq1 Q0 s2 2 1 x\nq2 Q0 s2 1 1 x\n")
    evaluate_file(run, "mine", content_of(made), Pool.COLLECTION, parse_measures(["mrr"]))
    assert "2 queries, 2 functions, 1 label" in told(ray, "benchmark", made.pk, metric="mrr")
    text = told(ray, "benchmark-query", made.pk, made.queries.members.get().text_id)
    assert text.index(">id s1<") < text.index("unjudged</") < text.index(">id s2<")
    assert "Matches are at rank: 2" in text


def test_who_reads_labels_is_remembered(ray: Client, scored: Benchmark) -> None:
    told(ray, "benchmark-query", scored.pk, scored.queries.members.get(position=0).text_id)
    assert Seen.objects.filter(user__username="ray").count() == 2


def test_another_query_is_not_found(ray: Client, scored: Benchmark) -> None:
    elsewhere = scored.snippets.members.get(position=0).text_id
    assert ray.get(reverse("benchmark-query", args=[scored.pk, elsewhere])).status_code == 404


def test_a_rater_who_is_kept_blind_sees_none_with_a_query_of_the_study(scored: Benchmark) -> None:
    study = studies.study(conditions=(Condition.Kind.READING,), pairs=[scored.labels.all()[0].pair])
    rita = studies.rater("rita", study, Condition.Kind.READING)
    give_role(rita.user, Role.EXPERT)
    studies.assignment(rita, study.pairs.get())
    client = Client()
    client.force_login(rita.user)
    assert reverse("benchmark", args=[scored.pk]) not in told(client, "benchmarks")
    query = scored.queries.members.get(position=1).text_id
    for address in (
        reverse("benchmark", args=[scored.pk]),
        reverse("benchmark-query", args=[scored.pk, query]),
    ):
        answer = client.get(address)
        assert answer.status_code == 403
        assert study.name in answer.content.decode()
    rita.finished_at = rita.accepted_at
    rita.save()
    assert "small &lt;i&gt;" in told(client, "benchmarks")


def test_a_leaderboard_reads_as_much_for_many_queries(
    ray: Client, scored: Benchmark, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    told(ray, "benchmark", scored.pk)  # the first view keeps the figures
    with django_assert_max_num_queries(25):
        told(ray, "benchmark", scored.pk)


def test_shares_of_wrong_labels_can_be_typed(ray: Client, scored: Benchmark) -> None:
    text = told(ray, "benchmark", scored.pk, metric="mrr", shares="0.03, 0.25")
    assert "3.0 % of the matches and 25.0 % of the other labels are flipped: as given" in text
    assert '<option value="0.03,0.25" selected>' in text
    again = told(ray, "benchmark", scored.pk, metric="mrr", errors="0.03,0.25")
    assert "25.0 % of the other labels" in again


@pytest.mark.parametrize("typed", ["much", "1.5", "nan", "0.1,0.2,0.3", "-1", "study-9", "0.1,"])
def test_what_is_no_share_is_told_and_the_usual_one_assumed(
    ray: Client, scored: Benchmark, typed: str
) -> None:
    text = told(ray, "benchmark", scored.pk, metric="mrr", shares=typed)
    assert "Write a share between 0 and 1" in text
    assert "6.1 % of the matches" in text


def test_beside_the_figures_stand_label_errors_training_and_the_paper(ray: Client, scored: Benchmark) -> None:
    text = told(ray, "benchmark", scored.pk, metric="mrr", errors="0.1")
    for words in ("Stays above", "when 10.0 % of the matches", "rank 1", "as reported", "0.175", "not known"):
        assert words in text
    assert (
        "As reported: CoSQA+, first paper, Table 5" in text
        and "table=reported-first-5&amp;format=tex" in text
    )
    assert "0.1&quot; selected" in text or 'value="0.1" selected' in text


def test_two_versions_are_compared_and_what_is_shown_is_seen(ray: Client, scored: Benchmark) -> None:
    assert "Nothing to compare with" in told(ray, "benchmark-compare", scored.pk)
    label = Label.objects.get(value=0)
    Label.objects.create(pair=label.pair, annotator=label.annotator, round=2, value=1)
    order = Order(scored.name, scored.queries, scored.snippets, "by hand")
    second = publish_benchmark(order, Label.objects.all())
    assert reverse("benchmark-compare", args=[second.pk]) in told(ray, "benchmark-compare", scored.pk)
    text = told(ray, "benchmark-compare", second.pk)
    for words in (
        "too short",
        "Searched is the whole collection",
        "0 → 1",
        "1 → 0",
        "good",
        "Kendall",
        "version 1 → small &lt;i&gt;, version 2",
    ):
        assert words in text
    assert Seen.objects.filter(user=factories.ray(), pair=label.pair).exists()
    files = {"table": "systems", "format": "csv"}
    rows = ray.get(reverse("benchmark-compare", args=[second.pk]), files).content.decode().splitlines()
    assert rows[0].startswith("System,Before,After,Difference,Difference low") and len(rows) > 1
    assert "table=changes&amp;format=tex" in text
    for asked in ({"with": "x"}, {"with": str(scored.pk), "metric": "nonsense"}, {"with": "9" * 30}):
        assert ray.get(reverse("benchmark-compare", args=[second.pk]), asked).status_code == 200


def test_a_large_leaderboard_shows_means_and_says_what_computes_the_rest(
    ray: Client, scored: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    KeptFigures.objects.all().delete()
    monkeypatch.setattr("retrieval.evaluation.leaderboard.MOST_AT_ONCE", 0)
    page = ray.get(reverse("benchmark", args=[scored.pk])).content.decode()
    assert "Means alone" in page and "cosqa leaderboard" in page
    build_leaderboard(scored, Pool.COLLECTION)
    assert "Means alone" not in ray.get(reverse("benchmark", args=[scored.pk])).content.decode()


@pytest.mark.parametrize("found", ["", "1"])
def test_the_command_for_leaving_encoders_out_fills_the_table_when_typed(
    ray: Client, scored: Benchmark, tmp_path: Path, found: str
) -> None:
    row = factories.mining(scored.queries, scored.snippets, encoders=["bm25", "bow"], rule=0)
    perform_mining(row, tmp_path)
    Benchmark.objects.filter(pk=scored.pk).update(mining=row)
    asked = {"pool": "collection", "metric": "mrr", "found": found}
    address = reverse("benchmark", args=[scored.pk])
    before = ray.get(address, asked)
    command = f"{before.context['page']['command']} --leave-one-out"
    assert escape(command) in before.content.decode()
    call_command(*shlex.split(command)[1:], stdout=StringIO())
    after = ray.get(address, asked).content.decode()
    assert "without bow" in after and "Not computed yet" not in after


def test_each_table_is_there_as_a_file(ray: Client, scored: Benchmark) -> None:
    page = told(ray, "benchmark", scored.pk, metric="mrr")
    for table in ("systems", "differences"):
        assert f"metric=mrr&amp;table={table}&amp;format=tex" in page, "for what the page shows"
    address = reverse("benchmark", args=[scored.pk])
    answer = ray.get(address, {"metric": "mrr", "show": "mrr", "table": "systems", "format": "csv"})
    assert answer["Content-Disposition"] == f'attachment; filename="benchmark-{scored.pk}-systems.csv"'
    head, *rows = answer.content.decode().splitlines()
    assert head.startswith("system,text,mrr,mrr low,mrr high") and head.endswith("judged")
    assert [row.split(",")[0] for row in rows] == ["good", "<b>bad"]
    assert float(rows[0].split(",")[2]) == 1.0
    for table, kind in (("none", "csv"), ("systems", "exe"), ("systems", "")):
        assert ray.get(address, {"table": table, "format": kind}).status_code == 404


def test_the_command_writes_the_same_tables(ray: Client, scored: Benchmark) -> None:
    def printed(*more: str) -> str:
        out = StringIO()
        call_command("leaderboard", str(scored), "--metric", "mrr", *more, stdout=out)
        return out.getvalue()

    address = reverse("benchmark", args=[scored.pk])
    page = ray.get(address, {"metric": "mrr", "table": "systems", "format": "csv"}).content.decode()
    assert printed("--format", "csv", "--show", "ndcg@10", "mrr").splitlines()[1:] == page.splitlines()[1:]
    assert r"\toprule" in printed("--format", "tex", "--table", "differences")
    assert printed("--format", "svg").startswith("<svg")
    with pytest.raises(CommandError, match="there are"):
        printed("--format", "csv", "--show", "speed")


def test_a_version_is_cited_as_bibtex(ray: Client, scored: Benchmark) -> None:
    page = told(ray, "benchmark", scored.pk)
    assert "@misc{small--i--1," in page and f"sha256 {scored.digest}" in page
