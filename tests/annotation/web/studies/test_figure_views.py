"""The page of a study's figures, its downloads, and the pairs behind a number."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Study
from annotation.studies.report.figures import figures_of
from annotation.studies.report.tables import build_reported_table, build_study_tables
from tests import factories, studies
from tests.annotation.studies.rated import agents, many_pairs, pairwise, rated_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    made = rated_study([[1, 1, 0, 0]] * 3)
    agents(made, [1, 0, 0, 1])
    return made


def page(client: Client, study: Study, name: str = "study-figures", **query: str) -> str:
    response = client.get(reverse(name, args=[study.pk]), query)
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def ray(client: Client) -> Client:
    client.force_login(factories.ray())
    return client


def test_every_table_is_there_with_a_chart_and_its_downloads(ray: Client, study: Study) -> None:
    text = page(ray, study)
    for words in (
        "always 0",
        "small-model",
        "own tests (leave-one-out)",
        "As reported",
        "<svg",
        "Flow of pairs",
    ):
        assert words in text
    assert "Interim" not in text
    assert "fewer than 30 queries" in text
    assert "format=tex" in text


def test_what_papers_report_is_there_by_criterion_or_of_choices(study: Study) -> None:
    told = build_reported_table(study).rows
    assert ("People", "50 % match", "0.86", "0.354") in {row[:4] for row in told}
    pairwise = build_reported_table(Study(kind=Study.Kind.PAIRWISE)).rows
    assert [row[:4] for row in pairwise] == [
        ("CoSQA+", "CoSQA", "73.8 %", "26.2 %"),
        ("CoSQA+", "CoSQA", "62.9 %", "37.1 %"),
    ]


def test_three_tiles_come_first_each_in_a_sentence(ray: Client, study: Study) -> None:
    text = page(ray, study)
    tiles = re.findall(r"<dt>(.*?)</dt>.*?stat-note\">(.*?)</dd>", text, re.DOTALL)
    assert [title for title, _ in tiles] == ["Agents’ accuracy", "Raters’ alpha", "Agents minus raters"]
    assert all(said.endswith(".") for _, said in tiles)
    assert "Share of 4 pairs on which" in tiles[0][1] and "alpha of 3 raters" in tiles[1][1]


def test_tables_are_folded_by_what_they_answer(ray: Client, study: Study) -> None:
    text = page(ray, study)
    assert '<details class="question">' in text and '<details class="question" open' not in text
    titles = re.findall(r"<h2>(.*?)</h2>", text)
    assert titles[:3] == [
        "How accurate are the labels?",
        "Can the agents replace a rater?",
        "Do the raters agree?",
    ]
    made = set(re.findall(r'<section class="card card-flush" id="t-([\w-]+)"', text))
    assert made == {table.key for table in build_study_tables(figures_of(study))}


def test_alphas_that_are_the_same_are_one_column(ray: Client, study: Study) -> None:
    text = page(ray, study)
    assert "Alpha (also ordinal, interval)" in text and ">Alpha, ordinal<" not in text


def test_what_is_to_be_known_of_a_cell_is_a_footnote(ray: Client, study: Study) -> None:
    text = page(ray, study)
    linked = set(re.findall(r'<sup><a href="#(n-[\w-]+)"', text))
    assert linked and linked == set(re.findall(r'<li id="(n-[\w-]+)">', text))


def test_an_interim_study_says_so(ray: Client, study: Study) -> None:
    quota = study.pairs.get(number=1).quotas.get()
    quota.wanted = 4
    quota.save()
    assert "Interim" in page(ray, study)


def test_without_ratings_the_page_says_what_is_missing(ray: Client) -> None:
    assert "first rating" in page(ray, studies.study())


def test_a_rater_is_told_when_the_page_opens(client: Client, study: Study) -> None:
    client.force_login(study.enrolments.all()[0].user)
    text = page(client, study)
    assert "You rate in this study" in text
    assert "always 0" not in text
    assert "You rate in this study" in page(
        client, study, "study-figures-download", table="main", format="csv"
    )
    assert "You rate in this study" in page(client, study, "study-figures-pairs", row="always 0", cell="0")


@pytest.mark.parametrize("kind", ["csv", "json", "tex", "svg"])
def test_a_table_can_be_taken_home(ray: Client, study: Study, kind: str) -> None:
    asked = {"table": "main", "format": kind}
    response = ray.get(reverse("study-figures-download", args=[study.pk]), asked)
    assert f'filename="study-{study.pk}-main.{kind}"' in response["Content-Disposition"]
    assert b"always 0" in response.content
    if kind == "json":
        assert json.loads(response.content)["rows"][0]["n"] == 4


@pytest.mark.parametrize("asked", [{}, {"table": "main", "format": "exe"}, {"table": "no", "format": "csv"}])
def test_what_is_not_there_is_not_found(ray: Client, study: Study, asked: dict[str, str]) -> None:
    answer = ray.get(reverse("study-figures-download", args=[study.pk]), asked)
    assert answer.status_code == 404
    assert "Formats are csv, json, tex, svg; tables are main, " in answer.content.decode()


def test_a_cell_leads_to_its_pairs(ray: Client, study: Study) -> None:
    text = page(ray, study, "study-figures-pairs", row="always 1", cell="1")
    assert text.count('scope="row"') == 2
    assert "query number 2" in text
    assert "no such row" in page(ray, study, "study-figures-pairs", row="<b>", cell="1")
    none = ray.get(reverse("study-figures-pairs", args=[study.pk]), {"cell": "7"})
    assert none.status_code == 404 and "four cells" in none.content.decode()


@pytest.mark.parametrize("kind", [Study.Kind.PAIRWISE, Study.Kind.IMPORTED])
def test_a_study_without_a_main_table_has_no_cells(ray: Client, kind: Study.Kind) -> None:
    theirs = Study.objects.create(name="theirs", kind=kind, state=Study.State.CLOSED)
    text = page(ray, theirs, "study-figures-pairs", row="always 0", cell="0")
    assert "no main table" in text


def test_what_is_left_open_is_counted_beside_the_cells_and_leads_nowhere(ray: Client) -> None:
    study = rated_study([[1, 0, None, 0], [1, 0, 1, 1], [1, 0, 0, 1]])
    agents(study, [1, 1, 0, None])
    asked = {"table": "confusion", "format": "json"}
    rows = json.loads(ray.get(reverse("study-figures-download", args=[study.pk]), asked).content)["rows"]
    row = next(row for row in rows if "small-model" in row["Annotator"])
    assert (row["No reference"], row["No label"]) == (1, 1)
    text = page(ray, study)
    assert 'data-label="No label"><span' in text
    assert "cell=3" in text and "cell=4" not in text


def test_who_rates_the_same_pairs_elsewhere_is_kept_out(client: Client, study: Study) -> None:
    other = studies.study("second study", pairs=[study.pairs.get(number=2).pair])
    client.force_login(studies.rater("rita", other).user)
    text = page(client, study)
    assert "second study" in text
    assert "always 0" not in text


@pytest.mark.parametrize("compared", ["here", "there"])
def test_who_rates_a_pair_as_the_second_snippet_elsewhere_is_kept_out(client: Client, compared: str) -> None:
    """Rated alone in one study, and as the second one of two in another."""
    second, first = many_pairs(2)
    alone = studies.study("alone", pairs=[second])
    both = studies.study("both", pairs=[first], kind="pairwise", scale="preference")
    both.pairs.update(other=second)
    asked, rated = (both, alone) if compared == "here" else (alone, both)
    studies.rated(studies.rater("ruth", asked), 1)
    client.force_login(studies.rater("rita", rated).user)
    assert f"You rate pairs of this study in \u201c{rated}\u201d" in page(client, asked)


def test_a_pairwise_study_has_its_own_table(ray: Client) -> None:
    text = page(ray, pairwise())
    assert "of 8 queries" in text and "fewer than 30 queries" in text
    assert "Which answers better" in text
    assert "Confusion" not in text


def test_names_are_escaped(ray: Client, study: Study) -> None:
    Study.objects.update(name="<script>alert(1)</script>")
    assert "<script>alert" not in page(ray, study)


def test_every_table_of_the_page_is_drawn_or_says_that_it_can_not_be(ray: Client, study: Study) -> None:
    Study.objects.update(purpose=Study.Purpose.SEALED)
    offered = set(re.findall(r"table=([\w-]+)&amp;format=svg", page(ray, study)))
    tables = set(re.findall(r"table=([\w-]+)&amp;format=csv", page(ray, study)))
    assert offered >= {"main", "confusion", "treatments", "kappas", "reliability", "flow"}
    for table in tables:
        asked = {"table": table, "format": "svg"}
        response = ray.get(reverse("study-figures-download", args=[study.pk]), asked)
        text = response.content.decode()
        assert response.status_code == (200 if table in offered else 404), table
        assert ("<svg" in text[:10]) is (table in offered)
        assert table in offered or "nothing that could be drawn" in text
    assert tables - offered == {"scorings", "reported"}
