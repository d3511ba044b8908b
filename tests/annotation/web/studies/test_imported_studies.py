"""Labels from elsewhere: their pages say what `agreement report` says, and nothing that is not so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import AuditEvent, Study
from annotation.studies.label_import.foreign_labels import Format
from annotation.studies.label_import.import_labels import import_labels
from annotation.studies.report.agreement_report import report_study_agreement
from annotation.web.studies.figures import report_page

pytestmark = pytest.mark.django_db
ROWS = "item,rater,label\n" + "".join(
    f"{item},{rater},{label}\n"
    for rater, labels in (("ann", "110010"), ("bob", "110110"))
    for item, label in enumerate(labels)
)


@pytest.fixture
def theirs(tmp_path: Path) -> Study:
    path = tmp_path / "labels.csv"
    path.write_text(ROWS)
    return import_labels(path, "theirs", Format.CSV)


def text(client: Client, study: Study, route: str) -> str:
    response = client.get(reverse(route, args=[study.pk]))
    assert response.status_code == 200
    return response.content.decode()


def test_the_study_page_offers_what_there_is_and_nothing_else(ada: Client, theirs: Study) -> None:
    html = text(ada, theirs, "study")
    assert "12 labels of 6 items" in html and "labels.csv" in html
    assert reverse("study-figures", args=[theirs.pk]) in html
    for route in ("study-plan", "study-progress", "adjudication-queue", "study-amend"):
        assert reverse(route, args=[theirs.pk]) not in html, route
    assert "theirs" in ada.get(reverse("studies")).content.decode()


def test_queries_are_told_of_the_items_that_have_two_labels(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,query,rater,label\na,q,ann,1\na,q,bob,0\nb,r,ann,1\nc,s,ann,0\n")
    study = import_labels(path, "some", Format.CSV)
    page = report_page(study, report_study_agreement(study))
    assert (page["pairs"], page["queries"]) == (1, 1) and page["unit"].startswith(
        "item with two labels or more,"
    )


def test_the_labels_are_there_to_be_taken_home_as_they_came(ada: Client, tmp_path: Path) -> None:
    path = tmp_path / "annotations.csv"
    path.write_text("Language,Query,GitHubUrl,Relevance,Notes\nGo,q,u,3,exactly\nGo,q,u,0,\n")
    study = import_labels(path, "CodeSearchNet", Format.CODESEARCHNET)
    where = reverse("study-ratings", args=[study.pk])
    html = text(ada, study, "study")
    for form in ("csv", "json"):
        assert f"{where}?part=labels&amp;format={form}" in html
    rows = json.loads(ada.get(where, {"part": "labels", "format": "json"}).getvalue())
    assert [(row["row"], row["item"], row["label"], row["notes"]) for row in rows] == [
        (1, "Go\nq\nu", 3, "exactly"),
        (2, "Go\nq\nu", 0, ""),
    ]
    answer = ada.get(where, {"format": "csv"})
    assert answer.getvalue().decode().startswith("row,item,rater,label,notes,item_sha256,query_sha256\r\n")
    assert "codesearchnet-labels.csv" in answer["Content-Disposition"]
    assert AuditEvent.objects.filter(verb="exported", what="labels of CodeSearchNet").exists()


def test_they_have_no_ratings_skips_or_decisions(ada: Client, theirs: Study) -> None:
    for part in ("ratings", "skips", "decisions"):
        answer = ada.get(reverse("study-ratings", args=[theirs.pk]), {"part": part})
        assert answer.status_code == 404


def test_its_figures_are_those_of_the_report(ray: Client, theirs: Study) -> None:
    html, found = text(ray, theirs, "study-figures"), report_study_agreement(theirs)
    assert "Nobody has rated" not in html
    for figure in found.figures.values():
        assert figure.value is not None and f"{figure.value:.3f}" in html
    for note in found.notes:
        assert note.replace("'", "&#x27;") in html
    assert "6 items" in html and "<svg" in html


def test_nothing_there_can_be_pinned(erin: Client, theirs: Study) -> None:
    assert "Pin these figures" not in text(erin, theirs, "study-figures")


@pytest.mark.parametrize("table", ["agreement", "counts"])
def test_every_format_can_be_taken_home(ray: Client, theirs: Study, table: str) -> None:
    offered = re.findall(rf"table={table}&amp;format=(\w+)", text(ray, theirs, "study-figures"))
    assert offered == ["csv", "json", "tex", "svg"]
    for form in offered:
        asked = {"table": table, "format": form}
        response = ray.get(reverse("study-figures-download", args=[theirs.pk]), asked)
        assert response.status_code == 200 and response.content


def test_the_file_has_the_value_unrounded(ray: Client, theirs: Study) -> None:
    asked = {"table": "agreement", "format": "json"}
    rows = json.loads(ray.get(reverse("study-figures-download", args=[theirs.pk]), asked).content)["rows"]
    nominal = next(row for row in rows if "nominal" in row["Figure"])
    assert nominal["Value"]["value"] == pytest.approx(1 - 11 / 35)
    assert nominal["Value"]["low"] < nominal["Value"]["value"] < nominal["Value"]["high"]
