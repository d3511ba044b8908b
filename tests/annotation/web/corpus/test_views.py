"""Corpus statistics: what stands there, what can be taken home, and from whom it is kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.accounts.roles import Role, give_role
from annotation.builds.results import publication
from annotation.builds.results.publication import Wish
from annotation.models import Build, BuildEvent, Case, Condition, Tally
from annotation.pins import Reproduced, reproduce_pin
from annotation.web.corpus.pins import corpus_now
from retrieval.evaluation.content import content_of
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.metrics.names import parse_measures
from retrieval.models import Annotator, Benchmark, Collection, Label, Pair, Pin, Pool, Text
from tests import factories, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    """Three queries: one with two matches, at ranks 1 and 2, one with one, one with none."""
    made = factories.opened("autumn <i>")
    for case, label in zip(factories.cases(made), (1, 1, 0, 0, 1, 0), strict=False):
        factories.settled(case, label)
    return made


@pytest.fixture
def benchmark_() -> Benchmark:
    queries, snippets = factories.queries(), factories.snippets()
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for (query, snippet), value in {(0, 0): 1, (0, 1): 0, (1, 1): 1}.items():
        ids = (queries.members.get(position=query).text_id, snippets.members.get(position=snippet).text_id)
        Label.objects.create(pair=Pair.objects.keep_all([ids])[0], annotator=by, value=value)
    return publish_benchmark(Order("small <i>", queries, snippets, "by hand"), Label.objects.all())


def told(client: Client, name: str, pk: int) -> str:
    answer = client.get(reverse(name, args=[pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def table(client: Client, name: str, pk: int, key: str) -> list[dict[str, object]]:
    answer = client.get(reverse(name, args=[pk]), {"table": key, "format": "json"})
    assert answer.status_code == 200
    rows: list[dict[str, object]] = json.loads(answer.content)["rows"]
    return rows


def test_a_builds_statistics_stand_beside_the_papers(ray: Client, build: Build) -> None:
    page = told(ray, "build-corpus", build.pk)
    assert "CoSQA⁺, as reported" in page
    assert "412,080" in page
    assert "autumn &lt;i&gt;" in page
    assert "<i>" not in page


def test_queries_are_counted_by_their_matches_from_none_on(ray: Client, build: Build) -> None:
    rows = table(ray, "build-corpus", build.pk, "matches")
    by_number = {row["Matches"]: row["Queries"] for row in rows}
    assert sum(int(str(count)) for count in by_number.values()) == 3
    assert rows[0]["Paper’s queries"] == 20_604 - 17_118
    assert rows[1]["Paper’s queries"] == 2907


def test_queries_of_which_nothing_is_judged_are_not_taken_for_ones_without_a_match(
    ray: Client, build: Build, benchmark_: Benchmark
) -> None:
    words = "1 query at 0 has no judged pair and may have matches."
    assert words in told(ray, "build-corpus", build.pk)
    assert words in told(ray, "benchmark-corpus", benchmark_.pk)
    factories.settled(factories.cases(build)[6], 0)
    assert words not in told(ray, "build-corpus", build.pk)


def test_every_candidate_has_its_rank(ray: Client, build: Build) -> None:
    rows = table(ray, "build-corpus", build.pk, "ranks")
    assert [row["Rank"] for row in rows] == list(range(1, len(rows) + 1))
    assert sum(int(str(row["New queries"])) for row in rows) == 2
    assert {row["Cost of this rank"] for row in rows} == {None}


def test_a_rank_costs_what_pairs_cost_in_a_build_and_in_its_benchmark(ray: Client) -> None:
    build = factories.said(factories.opened("autumn"), (1, 0, 1))
    made = publication.publish_benchmark(Wish("ours", build.mining, build))
    assert "“autumn” paid nothing" in told(ray, "benchmark-corpus", made.pk)
    Tally.objects.filter(build=build).update(spent=3_000_000, version=F("version") + 1)
    for name, pk in (("build-corpus", build.pk), ("benchmark-corpus", made.pk)):
        page = told(ray, name, pk)
        assert "in the build “autumn”: $0.0030 ÷ 3 settled pairs = $0.0010." in page
        assert "cost a new query, where the top is" in page
        rows = table(ray, name, pk, "ranks")
        assert {row["Cost of this rank"] for row in rows} == {"$0.0030"}


def test_languages_of_a_collection_are_drawn_with_a_name_each(ada: Client) -> None:
    made = factories.snippets()
    for member, name in zip(made.members.all(), ("a/m.py::f", "a/M.java::M.g", "a/m.py::h"), strict=False):
        made.members.filter(pk=member.pk).update(source_id=name)
    page = told(ada, "collection-corpus", made.pk)
    assert '<rect class="chart-inner"' in page
    assert "<span>Python</span><span>" in page and "<span>Java</span>" in page
    for form in ("csv", "json", "tex", "svg"):
        answer = ada.get(reverse("collection-corpus", args=[made.pk]), {"table": "languages", "format": form})
        assert answer.status_code == 200 and b"Python" in answer.content


def test_a_benchmarks_statistics(ray: Client, benchmark_: Benchmark) -> None:
    page = told(ray, "benchmark-corpus", benchmark_.pk)
    assert "small &lt;i&gt;, version 1" in page
    assert "There are no functions with ranks." in page
    rows = table(ray, "benchmark-corpus", benchmark_.pk, "matches")
    assert [row["Queries"] for row in rows[:3]] == [1, 2, 0]
    (row,) = table(ray, "benchmark-corpus", benchmark_.pk, "relevance")
    assert (row["Relevance 0"], row["Relevance 1"], row["Labels"]) == (1, 2, 3)
    drawn = re.search(r"labels</span>.*?</figure>", page, re.DOTALL)  # two columns of a third and two thirds
    assert drawn and re.findall(r'height="([\d.]+)"', drawn.group())[-2:] == ["60.0", "120.0"]
    assert "relevance 0" in drawn.group() and "relevance 1" in drawn.group()


def test_a_benchmark_of_a_build_has_the_builds_programs(ray: Client) -> None:
    build = factories.said(factories.opened("autumn"), (1, 0, 1))
    Tally.objects.filter(build=build).update(written=4, test_cases=10, programs=4, ran=3)
    made = publication.publish_benchmark(Wish("ours", build.mining, build))
    ours = table(ray, "benchmark-corpus", made.pk, "size")[0]
    judged = Text.objects.filter(pk__in=made.labels.values("pair__snippet"))
    sizes = [one.size for one in judged]
    assert (ours["Functions"], ours["Mean length"]) == (len(sizes), pytest.approx(sum(sizes) / len(sizes)))
    assert len(sizes) < made.snippets.size
    assert f"{made.snippets.size} are searched" in told(ray, "benchmark-corpus", made.pk)
    assert (ours["Test cases a program"], ours["Executable programs"]) == ("2.50", "75.0 %")


@pytest.mark.parametrize("kind", ["queries", "snippets"])
def test_a_collections_statistics(ada: Client, kind: str) -> None:
    made = factories.queries() if kind == "queries" else factories.snippets()
    page = told(ada, "collection-corpus", made.pk)
    assert ("Query length" in page) == (kind == "queries")
    assert ("Code length in characters" in page) == (kind == "snippets")


def test_filters_are_counted_with_examples(ada: Client) -> None:
    snippets = factories.snippets()
    variants = {
        row["Rule"]: row["Functions"] for row in table(ada, "collection-corpus", snippets.pk, "testable")
    }
    assert (variants["testable"], variants["testable in any sense"]) == (3, 3)
    refused = table(ada, "collection-corpus", snippets.pk, "filters")
    steps = {(row["Filter"], row["Step"]): row["Refused"] for row in refused}
    assert steps["Not testable", "no input"] == 1
    queries = factories.collection("queries", ["sort lists", "python sort a list", "tf.sort"], name="asked")
    refused = table(ada, "collection-corpus", queries.pk, "filters")
    assert {row["Step"]: (row["Refused"], row["Such as"]) for row in refused} == {
        "not English": (0, None),
        "bare identifier": (1, "tf.sort"),
        "near-same as an earlier one": (1, "python sort a list"),
    }


def test_what_is_empty_says_so(ada: Client) -> None:
    empty = Collection.objects.create(name="none", kind="snippets")
    assert "Nothing to count yet" in told(ada, "collection-corpus", empty.pk)
    assert "Nothing to count yet" in told(ada, "build-corpus", factories.launched().pk)


@pytest.mark.parametrize(("key", "form"), [("none", "json"), ("size", "exe"), ("", "")])
def test_other_tables_and_formats_are_not_there(ray: Client, build: Build, key: str, form: str) -> None:
    assert (
        ray.get(reverse("build-corpus", args=[build.pk]), {"table": key, "format": form}).status_code == 404
    )


def test_a_table_is_drawn_where_its_link_offers_that(ray: Client, build: Build) -> None:
    here = reverse("build-corpus", args=[build.pk])
    offered = re.findall(r"table=([\w-]+)&amp;format=svg", ray.get(here).content.decode())
    assert "size" in offered
    for key in offered:
        answer = ray.get(here, {"table": key, "format": "svg"})
        assert answer.content.startswith(b"<svg"), key


def test_a_table_can_be_taken_home(ray: Client, build: Build) -> None:
    answer = ray.get(reverse("build-corpus", args=[build.pk]), {"table": "size", "format": "csv"})
    assert answer.headers["Content-Disposition"] == 'attachment; filename="build-size.csv"'
    assert answer.content.decode().startswith("Corpus,Pairs,Functions")


def test_it_is_counted_once(
    ray: Client, build: Build, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    told(ray, "build-corpus", build.pk)
    with django_assert_max_num_queries(8):
        told(ray, "build-corpus", build.pk)


def test_a_move_has_it_counted_again(ray: Client, build: Build) -> None:
    told(ray, "build-corpus", build.pk)
    factories.settled(factories.cases(build)[6], 1)
    rows = table(ray, "build-corpus", build.pk, "ranks")
    assert sum(int(str(row["Judged"])) for row in rows) == 7


def test_a_build_that_is_worked_on_says_so(ray: Client, build: Build) -> None:
    assert "may lag behind by a hundredth" in told(ray, "build-corpus", build.pk)
    Build.objects.update(state=Build.State.DONE)
    assert "may lag behind by a hundredth" not in told(ray, "build-corpus", build.pk)


def test_who_rates_blind_sees_none(ray: Client, build: Build, benchmark_: Benchmark) -> None:
    pairs = list(Pair.objects.filter(cases__build=build)[:3])
    study = studies.study(conditions=(Condition.Kind.READING,), pairs=pairs)
    study.builds.add(build)
    rita = studies.rater("rita", study, Condition.Kind.READING)
    give_role(rita.user, Role.ADMIN)
    client = Client()
    client.force_login(rita.user)
    for name, pk in (("build-corpus", build.pk), ("benchmark-corpus", benchmark_.pk)):
        assert client.get(reverse(name, args=[pk])).status_code == 403


def again(pin: Pin) -> Reproduced:
    return reproduce_pin(pin, also={Pin.Kind.CORPUS: corpus_now})


def over(build: Build) -> Build:
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
    return Build.objects.get(pk=build.pk)


def test_a_builds_statistics_are_pinned_once_it_is_over_and_counted_again(
    erin: Client, ray: Client, build: Build
) -> None:
    assert "Pin these figures" not in told(erin, "build-corpus", build.pk)
    pinning = reverse("build-corpus-pin", args=[build.pk])
    assert "pinned once it is over" in erin.post(pinning, follow=True).content.decode()
    over(build)
    assert "Pin these figures" in told(erin, "build-corpus", build.pk)
    assert "Pin these figures" not in told(ray, "build-corpus", build.pk)
    page = erin.post(pinning, follow=True).content.decode()
    (pin,) = Pin.objects.all()
    assert f"cosqa admin reproduce {pin.name}" in page and "autumn &lt;i&gt;" in page
    assert "Size, compared with the papers" in page
    assert reverse("build-corpus", args=[build.pk]) in page
    assert again(pin).changes == again(pin).grounds == ()
    erin.post(pinning)
    assert Pin.objects.count() == 1
    assert ray.get(reverse("pin", args=[pin.pk])).status_code == 200
    assert ray.post(pinning).status_code == 403
    Case.objects.filter(pk=Case.objects.filter(build=build, label=1)[:1].get().pk).update(label=0)
    BuildEvent.objects.create(build=build, event="a hand in the database")
    found = again(pin)
    assert any(one.where.startswith("matches/rows") for one in found.changes)
    assert [one.where for one in found.grounds] == ["event"]
    Build.objects.filter(pk=build.pk).update(name="another")
    assert not again(pin).equal


def test_runs_that_came_later_change_no_pin_of_a_benchmark(
    erin: Client, benchmark_: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def scored(name: str, *order: int) -> None:
        path = tmp_path / name
        path.write_text(
            "".join(f"queries-0 Q0 snippets-{one} {rank} {-rank} x\n" for rank, one in enumerate(order))
        )
        evaluate_file(path, name, content_of(benchmark_), Pool.COLLECTION, parse_measures(["mrr"]))

    scored("one", 0, 1)
    scored("two", 1, 2)
    call_command("pin", corpus=["benchmark", benchmark_.name])
    (pin,) = Pin.objects.all()
    assert capsys.readouterr().out.strip() == pin.name
    assert pin.value["overlap"]["rows"]
    scored("three", 2, 0)
    assert again(pin).equal
    call_command("reproduce", pin.name)
    assert "equal" in capsys.readouterr().out
    erin.post(reverse("benchmark-corpus-pin", args=[benchmark_.pk]))
    assert Pin.objects.count() == 2


def test_a_pin_is_of_its_benchmark_and_not_of_another_of_the_same_content(
    erin: Client, benchmark_: Benchmark
) -> None:
    order = Order("twin", benchmark_.queries, benchmark_.snippets, "by hand")
    twin = publish_benchmark(order, Label.objects.all())
    assert twin.digest == benchmark_.digest
    erin.post(reverse("benchmark-corpus-pin", args=[twin.pk]))
    (pin,) = Pin.objects.all()
    assert again(pin).equal
    assert reverse("benchmark-corpus", args=[twin.pk]) in told(erin, "pin", pin.pk)


def test_a_collection_that_grew_is_the_ground_that_changed(
    ada: Client, erin: Client, benchmark_: Benchmark
) -> None:
    queries = benchmark_.queries
    pinning = reverse("collection-corpus-pin", args=[queries.pk])
    assert erin.post(pinning).status_code == 403
    assert ada.post(pinning, follow=True).status_code == 200
    (pin,) = Pin.objects.all()
    assert erin.get(reverse("pin", args=[pin.pk])).status_code == 404
    assert again(pin).equal
    text = benchmark_.snippets.members.get(position=0).text_id
    queries.members.create(text_id=text, position=77)
    assert "members" in {one.where for one in again(pin).grounds}


@pytest.mark.parametrize(
    ("of", "why"), [("build", "no build called"), ("benchmark", "no benchmark"), ("town", "not of 'town'")]
)
def test_what_is_not_there_is_not_pinned(db: None, of: str, why: str) -> None:
    with pytest.raises(CommandError, match=why):
        call_command("pin", corpus=[of, "nowhere"])


def test_nothing_counted_is_nothing_pinned(ada: Client) -> None:
    empty = Collection.objects.create(name="empty", kind="snippets", source="by hand")
    answer = ada.post(reverse("collection-corpus-pin", args=[empty.pk]), follow=True)
    assert "nothing in collection" in answer.content.decode()


def test_who_is_kept_blind_sees_no_pin_of_a_build(erin: Client, build: Build) -> None:
    over(build)
    erin.post(reverse("build-corpus-pin", args=[build.pk]))
    (pin,) = Pin.objects.all()
    assert erin.get(reverse("pin", args=[pin.pk])).status_code == 200
    pairs = list(Pair.objects.filter(cases__build=build)[:3])
    study = studies.study(conditions=(Condition.Kind.READING,), pairs=pairs)
    study.builds.add(build)
    rita = studies.rater("rita", study, Condition.Kind.READING)
    give_role(rita.user, Role.EXPERT)
    client = Client()
    client.force_login(rita.user)
    assert client.get(reverse("pin", args=[pin.pk])).status_code in {403, 404}
    assert pin.name not in client.get(reverse("reports")).content.decode()
    assert client.post(reverse("build-corpus-pin", args=[build.pk])).status_code in {403, 404}
