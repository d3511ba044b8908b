"""The audit page, the form that takes a file of pairs, and the page that publishes corrected labels."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Build, Case, Rerun
from annotation.stages import Stage
from annotation.web.label_audit import given_pairs
from annotation.web.label_audit import page as pages
from retrieval.models import Benchmark, Job, PairList
from tests import factories, given, studies
from tests.annotation.label_audit.test_figures import say

pytestmark = pytest.mark.django_db


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """By query and place the labels are 1 0, 1, 0, none; agents say 0 0, nothing, 1, 1."""
    rows = [{**row, "doc": f"{row['doc']} <b>"} for row in given.ROWS]
    return given.judged(given.pair_list(tmp_path, rows), 0, 0, None, 1, 1)


def address(build: Build, query: str = "") -> str:
    return reverse("build-audit", args=[build.pk]) + query


def rows_of(client: Client, build: Build, query: str = "") -> list[dict[str, Any]]:
    page = client.get(address(build, query)).context["page"]
    rows: list[dict[str, Any]] = page["rows"]
    return rows


def test_pairs_that_differ_come_first_each_with_its_evidence(ray: Client, build: Build) -> None:
    answer = ray.get(address(build))
    rows = answer.context["page"]["rows"]
    assert [row["row"].differs for row in rows] == [True, True, False, False, False]
    text = answer.content.decode()
    for case in Case.objects.filter(build=build):
        assert f'href="{reverse("case", args=[case.pk])}"' in text
    assert "sort a list &lt;b&gt;" in text and "sort a list <b>" not in text
    assert "1 of 3" in text  # of three labels that were judged one is upheld


def test_a_spot_check_is_no_audit_of_its_own(ray: Client, build: Build) -> None:
    assert build.pair_list is not None
    check = given.judged(build.pair_list, 0, name="check")
    assert len(ray.get(address(build)).context["page"]["builds"]) == 2
    Rerun.objects.create(build=check, of=build, stage=Stage.READING, spot_check=True)
    assert ray.get(address(build)).context["page"]["builds"] == (build,)


def test_an_audit_is_closed_to_experts_while_a_build_of_its_pairs_hides_their_labels(
    ray: Client, erin: Client, build: Build
) -> None:
    assert build.pair_list is not None
    given.judged(build.pair_list, 0, name="second")
    Build.objects.filter(name="second").update(hides_reviews=True)
    for page in (address(build), f"/api/builds/{build.pk}/audit", f"/api/builds/{build.pk}/audit/pairs"):
        assert erin.get(page).status_code == 403, page
        assert ray.get(page).status_code == 200, page
    Build.objects.update(hides_reviews=False)
    assert erin.get(address(build)).status_code == 200


def test_cells_lead_to_their_pairs(ray: Client, build: Build) -> None:
    page = ray.get(address(build)).context["page"]
    for row in page["cross"]:
        for cell in row["cells"]:
            assert len(rows_of(ray, build, f"?{cell['query']}")) == cell["pairs"]
    assert sum(cell["pairs"] for row in page["cross"] for cell in row["cells"]) == 5


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("?original=1", 2),
        ("?original=none", 1),
        ("?said=abandoned", 1),
        ("?how=screener", 4),
        ("?how=tested", 0),
        ("?experts=none", 5),
        ("?differs=no", 3),
        ("?original=sky&said=%00", 5),
    ],
)
def test_filters(ray: Client, build: Build, query: str, count: int) -> None:
    assert len(rows_of(ray, build, query)) == count


def test_pages_go_forth_and_back(ray: Client, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE_SIZE", 2)
    whole, seen, query = [], [], ""
    while True:
        page = ray.get(address(build, f"?{query}")).context["page"]
        seen.append([row["pair"].pk for row in page["rows"]])
        whole += seen[-1]
        if not page["next"]:
            break
        query = page["next"]
    assert len(whole) == len(set(whole)) == 5 and [len(one) for one in seen] == [2, 2, 1]
    back = ray.get(address(build, f"?{page['previous']}")).context["page"]
    assert [row["pair"].pk for row in back["rows"]] == seen[1]
    assert [row["pair"].pk for row in rows_of(ray, build, "?after=999999")] == seen[0]


def test_a_build_at_work_says_that_figures_are_not_whole(ada: Client, tmp_path: Path) -> None:
    build = given.build(given.pair_list(tmp_path))
    text = ada.get(address(build)).content.decode()
    assert "Not all pairs are judged yet" in text and "No pair is judged yet" in text


def test_what_experts_say_is_a_column(ray: Client, build: Build) -> None:
    say(build, 0, 1, "erin", "eve")
    page = ray.get(address(build)).context["page"]
    assert [str(sign) for sign in {row["experts"] for row in page["rows"]}].count("✓ match") == 1
    share = dict(page["rates"][0]["shares"])["Experts"]
    assert share is not None and (share.part, share.whole) == (1, 1)


def test_a_mined_build_has_no_audit(ray: Client) -> None:
    assert ray.get(address(factories.opened())).status_code == 404
    assert ray.get("/builds/999/audit/").status_code == 404


def test_who_has_no_role_sees_nothing_and_who_rates_blind_is_told(
    nora: Client, client: Client, build: Build
) -> None:
    assert nora.get(address(build)).status_code == 403
    other = factories.opened("other")  # not of these pairs: still labels may tell of the study's
    rater = studies.rater("rita", studies.study(pairs=[factories.cases(other)[0].pair]))
    client.force_login(rater.user)
    answer = client.get(address(build))
    assert answer.status_code == 403 and "while you rate" in answer.content.decode()
    shown = client.get(reverse("review-next", args=[build.pk]) + "?show=disputed")
    assert "disputed" not in shown.headers.get("Location", "")


def test_actions_are_for_those_who_may(ada: Client, erin: Client, ray: Client, build: Build) -> None:
    review, publish = "?show=disputed", reverse("build-correct", args=[build.pk])
    for client, told in ((ada, (True, True)), (erin, (True, False)), (ray, (False, False))):
        text = client.get(address(build)).content.decode()
        assert (review in text, publish in text) == told


def test_corrected_labels_are_published_from_the_page(ada: Client, build: Build) -> None:
    page = reverse("build-correct", args=[build.pk])
    text = ada.get(page).content.decode()
    assert "not judged: they keep their label" in text and "dev@1" in text
    answer = ada.post(page, {"name": "dev"})
    made = Benchmark.objects.get(version=2)
    assert answer.status_code == 302 and answer.headers["Location"] == reverse("benchmark", args=[made.pk])
    assert (made.name, made.pair_list, Job.objects.get().state) == ("dev", build.pair_list, "done")
    assert ada.post(page, {"name": ""}).status_code == 422


def test_only_admins_publish_and_only_given_pairs_with_labels(
    ada: Client, erin: Client, build: Build
) -> None:
    assert erin.get(reverse("build-correct", args=[build.pk])).status_code == 403
    mined = factories.said(factories.opened("mined"), (1, 0, 1))
    assert ada.get(reverse("build-correct", args=[mined.pk])).status_code == 404


def upload(client: Client, rows: list[Any], **more: Any) -> Any:
    file = SimpleUploadedFile("dev.json", json.dumps(rows).encode())
    return client.post(reverse("pairs-new"), {"name": "dev", "file": file, **more})


def test_a_file_of_pairs_is_given_and_chosen_in_the_launch_form(ada: Client) -> None:
    answer = upload(ada, list(given.ROWS))
    pairs = PairList.objects.get()
    assert answer.headers["Location"] == f"{reverse('build-new')}?given=list-{pairs.pk}"
    form = ada.get(answer.headers["Location"])
    assert f'<option value="list-{pairs.pk}" selected>' in form.content.decode()


def test_bad_rows_are_told_by_line_in_the_form(ada: Client, erin: Client) -> None:
    rows = [*given.ROWS, {"doc": "no <i>code"}]
    answer = upload(ada, rows)
    text = answer.content.decode()
    assert answer.status_code == 422 and "line 6: has no &quot;" in text and not PairList.objects.exists()
    assert upload(ada, rows, skip_bad="on").status_code == 302
    assert upload(erin, rows).status_code == 403


ORDER = {
    "name": "audit",
    "k": "20",
    "rule": "1",
    "text_option": "whole",
    "provider": "exchange",
    "fix_rounds": "2",
}


def test_a_packed_file_that_is_too_large_is_for_the_command(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given_pairs, "MOST_MB", 1)
    rows = b'{"query": "q", "code": "c"}\n' * 60_000
    for packed in (gzip.compress(rows), bz2.compress(rows), gzip.compress(b"0" * 2**21)):
        file = SimpleUploadedFile("dev.jsonl", packed)
        page = ada.post(reverse("pairs-new"), {"name": "dev", "file": file})
        assert page.status_code == 422
        assert "Unpacked it is larger than" in page.content.decode()
    assert not PairList.objects.exists()


def test_the_form_launches_several_annotators_of_given_pairs(ada: Client, tmp_path: Path) -> None:
    pairs = given.pair_list(tmp_path)
    chosen = {**ORDER, "given": f"benchmark-{pairs.benchmark_id}", "beside": ["single_half", "experts"]}
    answer = ada.post(reverse("build-new"), chosen)
    names = list(Build.objects.order_by("pk").values_list("name", flat=True))
    assert names == ["audit agents", "audit single_half", "audit experts"]
    first = Build.objects.get(name="audit agents")
    assert answer.headers["Location"] == reverse("build-audit", args=[first.pk])
    assert ada.get(reverse("build", args=[first.pk])).status_code == 200
    assert "4 given pairs" in ada.get(reverse("dashboard")).content.decode()


def test_the_form_needs_a_source(ada: Client) -> None:
    answer = ada.post(reverse("build-new"), ORDER)
    assert answer.status_code == 422
    assert {"queries", "snippets", "encoders"} <= set(answer.context["form"].errors)
    answer = ada.post(reverse("build-new"), {**ORDER, "beside": ["experts"]})
    assert "beside" in answer.context["form"].errors and not Build.objects.exists()
    answer = ada.post(reverse("build-new"), {**ORDER, "given": "list-99"})
    assert "given" in answer.context["form"].errors


def test_pages_of_the_build_say_what_it_judges(ada: Client, build: Build) -> None:
    text = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "5 given pairs" in text and "Encoders" not in text and address(build) in text
    for name, args in (
        ("build-cases", [build.pk]),
        ("browse-build", [build.pk]),
        ("query", [build.pk, factories.cases(build)[0].query_id]),
        ("build-corpus", [build.pk]),
        ("build-publish", [build.pk]),
        ("build-corpus", [build.pk]),
        ("build-progress", [build.pk]),
    ):
        answer = ada.get(reverse(name, args=args))
        assert answer.status_code == 200, name
        assert "mean score" not in answer.content.decode()
    assert ada.post(reverse("build-mining-pin", args=[build.pk])).status_code == 404
