"""The page of label quality: whom it is for, what it shows, what it says of bad files."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.accounts.roles import Role
from annotation.models import Build, Seen
from annotation.web.label_quality import page as pages
from tests import factories, studies

pytestmark = pytest.mark.django_db
URL = "/quality/"


@pytest.fixture
def build() -> Build:
    made = factories.opened("first <b>")
    found = factories.cases(made)
    factories.examined(found[0], 1)
    for case, label in zip(found[1:4], (1, 0, 0), strict=True):
        factories.settled(case, label, "because <i>so</i>\u202e")
    return made


def rows(build: Build) -> list[dict[str, str]]:
    return [
        {"id": f"p{number}", "query": case.pair.query.text, "code": case.pair.snippet.text}
        for number, case in enumerate(factories.cases(build))
    ]


def file(name: str, some: list[Any]) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, "".join(json.dumps(one) + "\n" for one in some).encode())


def truth(*labels: int) -> list[dict[str, Any]]:
    return [{"id": f"p{number}", "label": label} for number, label in enumerate(labels)]


def posted(client: Client, build: Build, status: int = 200, **more: Any) -> Any:
    data: dict[str, Any] = {
        "pairs": file("pairs.jsonl", rows(build)),
        "truth": file("truth.jsonl", truth(1, 0, 0, 0)),
        "who": [f"b{build.pk}.1"],
        **more,
    }
    answer = client.post(URL, {name: value for name, value in data.items() if value is not None})
    assert answer.status_code == status
    return answer


def test_the_page_offers_builds_and_annotators(erin: Client, build: Build) -> None:
    text = erin.get(URL).content.decode()
    assert reverse("quality") == URL
    assert f'value="b{build.pk}.1"' in text and f'value="a{build.annotator_id}"' in text
    assert "first &lt;b&gt; (small-model)" in text


def test_the_tables_are_shown_and_wrong_pairs_lead_to_their_cases(erin: Client, build: Build) -> None:
    text = posted(erin, build).content.decode()
    wrong = factories.cases(build)[1]
    assert "Against the truth: tested pairs" in text and ">0.750<" in text  # three of four right
    assert "1 wrong pair" in text and reverse("case", args=[wrong.pk]) in text
    assert "because &lt;i&gt;so&lt;/i&gt;" in text and "\u202e" not in text
    assert "first <b>" not in text


def test_whoever_looks_has_seen_the_pairs(erin: Client, build: Build) -> None:
    posted(erin, build)
    seen = set(Seen.objects.filter(user=factories.erin()).values_list("pair", flat=True))
    assert seen == {case.pair_id for case in factories.cases(build)}


def test_everything_comes_as_json(erin: Client, build: Build) -> None:
    answer = posted(erin, build, json="1")
    assert answer["Content-Type"] == "application/json" and "quality.json" in answer["Content-Disposition"]
    found = json.loads(answer.content)
    assert [one["id"] for one in found["wrong"]] == ["p1"] and found["wrong"][0]["said"]


def test_labels_of_several_files_are_measured_beside(erin: Client, build: Build) -> None:
    one, other = (file(name, truth(1, 0, 0, 1)) for name in ("one.jsonl", "other.jsonl"))
    text = posted(erin, build, labels=[one, other]).content.decode()
    assert "one.jsonl" in text and "other.jsonl" in text and "Each against each: all pairs" in text


def test_without_a_wrong_pair_that_is_said(erin: Client, build: Build) -> None:
    given = file("truth.jsonl", truth(1, 1, 0, 0))
    assert "Every judged pair agrees with the truth." in posted(erin, build, truth=given).content.decode()


def test_pairs_and_truth_that_are_here_can_be_chosen(
    erin: Client, build: Build, settings: Settings, tmp_path: Path
) -> None:
    settings.COSQA_HOME = tmp_path
    for name in ("dev", "half"):
        (tmp_path / "quality" / name).mkdir(parents=True)
    given = {"pairs": rows(build), "truth": truth(1, 0, 0, 0)}
    for name, some in given.items():
        text = "".join(json.dumps(one) + "\n" for one in some)
        (tmp_path / "quality" / "dev" / f"{name}.jsonl").write_text(text)
    offered = erin.get(URL).content.decode()
    assert 'value="dev"' in offered and 'value="half"' not in offered
    assert ">0.750<" in posted(erin, build, pairs=None, truth=None, known="dev").content.decode()
    both = posted(erin, build, 422, known="dev").content.decode()
    assert "You also chose files: leave one out" in both
    posted(erin, build, 422, pairs=None, truth=None, known="../dev")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"pairs": None}, "Choose a file, or stored pairs and truth."),
        ({"who": []}, "Choose an annotator, or a file of labels."),
        ({"who": ["b999999.1"]}, "Select a valid choice"),
        (
            {"truth": file("truth.jsonl", [{"id": "<b>", "label": 1}])},
            "truth.jsonl, line 1: no pair has the id",
        ),
        ({"pairs": file("pairs.jsonl", ["x"])}, "pairs.jsonl, line 1: has to be a JSON object"),
        ({"truth": file("truth.jsonl", [{"id": "p0", "label": None}])}, "No pair has a label in the truth"),
        ({"labels": file("labels.jsonl", [{"id": "p0"}])}, "labels.jsonl, line 1: it needs"),
    ],
)
def test_what_is_missing_or_bad_is_said(erin: Client, build: Build, more: dict[str, Any], words: str) -> None:
    for given in more.values():
        if isinstance(given, SimpleUploadedFile):
            given.seek(0)
    text = posted(erin, build, 422, **more).content.decode()
    assert words in text and "Nothing was measured" in text and "id &#x27;<b>" not in text
    assert not Seen.objects.exists()


def test_too_much_is_left_to_the_server(
    erin: Client, build: Build, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(pages, "MOST_PAIRS", 8)
    assert "More than 8 pairs are too many for the page" in posted(erin, build, 422).content.decode()
    settings.UPLOAD_LIMIT_BYTES = 10
    assert "pairs.jsonl is too large for the page" in posted(erin, build, 422).content.decode()


def test_a_reader_is_refused_and_has_no_link(ray: Client, erin: Client, build: Build) -> None:
    posted(ray, build, 403)
    address = reverse("compare") + "?of=annotators"
    assert URL not in ray.get(address).content.decode() and URL in erin.get(address).content.decode()


def test_whoever_rates_blind_is_kept_out(client: Client, build: Build) -> None:
    rater = studies.rater("rita", studies.study(pairs=[factories.cases(build)[0].pair]))
    factories.person("rita", Role.ADMIN)
    client.force_login(rater.user)
    assert "closed to you while you rate" in posted(client, build, 403).content.decode()
    assert client.get(URL).status_code == 403


def test_all_tables_come_as_files(erin: Client, build: Build) -> None:
    answer = posted(erin, build, files="1")
    with ZipFile(BytesIO(b"".join(answer.streaming_content))) as archive:
        names = archive.namelist()
        first = next(name for name in names if name.endswith(".csv"))
        assert archive.read(first).decode().startswith("Annotator,Pairs,")
        drawing = archive.read(first.replace(".csv", ".svg")).decode()
    assert drawing.startswith("<svg") and "Accuracy" in drawing and "first &lt;b&gt;" in drawing
    assert {name.rpartition(".")[2] for name in names} >= {"csv", "json", "tex"}
    assert Seen.objects.filter(user=factories.erin()).exists()
