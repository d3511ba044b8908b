"""The pages of studies: from the form to a running study, what is refused, and what is exported."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.accounts.roles import Role
from annotation.models import AuditEvent, Build, Enrolment, Rating, Seen, Study
from annotation.studies.plan import plan
from retrieval.models import Label
from tests import factories, studies
from tests.annotation.studies.rated import rated_study
from tests.studies import posted

pytestmark = pytest.mark.django_db
CODE = 'kind,answer,query,code\r\nattention,1,add two,"def add(a):\r\n    return a"\r\n'
PLANTED = "kind,answer,query,code\nattention,1,add two,def add(a; b)\n"


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened("zoo <b>"), (1, 0, 1, 0, 1, 0, 1, 0, 1))


def page(client: Client, route: str, *args: object, **query: Any) -> str:
    answer = client.get(reverse(route, args=args), query)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def test_a_study_is_looked_at_saved_and_started(ada: Client, build: Build) -> None:
    assert "No study yet" in page(ada, "studies")
    shown = ada.post(reverse("study-new"), posted(build, step="preview"))
    text = shown.content.decode()
    assert shown.status_code == 200 and "What it will take" in text
    assert "1.5" in text and "$45.00" in text and "3 queries" in text
    assert not Study.objects.exists()

    ada.post(reverse("study-new"), posted(build))
    study = Study.objects.get()
    assert study.comparisons == [["agents", "own_tests"]] and study.seed == 4
    assert not study.needs_run and re.search(r'name="needs_run"[^>]* checked', page(ada, "study-new"))
    text = page(ada, "study", study.pk)
    assert "first &lt;b&gt;study" in text and "What it will take" in text
    assert "Start the study" in page(ada, "study-control", study.pk, action="start")
    ada.post(reverse("study-control", args=[study.pk]), {"action": "start", "reason": "all is ready"})
    text = page(ada, "study", study.pk)
    assert "0 of 9" in text and "ruth" in text and "all is ready" in text
    assert "0 of 9" in page(ada, "studies")


def test_experts_and_readers_find_the_figures_of_studies_that_have_begun(erin: Client, ray: Client) -> None:
    begun = studies.study("begun")
    studies.study("still a draft", state=Study.State.DRAFT)
    for client in (erin, ray):
        text = page(client, "studies")
        assert f'href="{reverse("study-figures", args=[begun.pk])}"' in text
        assert "still a draft" not in text and "New study" not in text
        assert f'href="{reverse("study", args=[begun.pk])}"' not in text


def test_the_figures_of_a_study_are_no_link_for_its_raters(client: Client) -> None:
    rita = studies.rater("rita", studies.study("theirs"))
    other = studies.study("another", pairs=())
    client.force_login(rita.user)
    text = page(client, "studies")
    assert reverse("study-figures", args=[rita.study_id]) not in text
    assert text.count("closed while you rate") == 1
    assert reverse("study-figures", args=[other.pk]) in text


def test_the_list_of_studies_costs_nothing_a_row(erin: Client, django_assert_num_queries: Any) -> None:
    studies.study("first")
    with CaptureQueriesContext(connection) as one:
        page(erin, "studies")
    for number in range(3):
        studies.study(f"more {number}", pairs=())
    with django_assert_num_queries(len(one)):
        page(erin, "studies")


def test_too_few_raters_are_refused_in_plain_words(ada: Client, build: Build) -> None:
    answer = ada.post(reverse("study-new"), posted(build, raters_own_tests=2))
    text = answer.content.decode()
    assert answer.status_code == 422 and not Study.objects.exists()
    assert "A pair needs 3 raters in each condition, or one." in text
    assert "greater than or equal" not in text


def test_a_file_of_planted_pairs_stays_in_the_form(ada: Client, build: Build) -> None:
    file = SimpleUploadedFile("p.csv", PLANTED.encode("utf-8-sig"))
    answer = ada.post(reverse("study-new"), posted(build, planted_file=file, step="preview"))
    assert "def add(a; b)" in answer.content.decode() and "1 planted pair" in answer.content.decode()
    ada.post(reverse("study-new"), posted(build, planted=PLANTED))
    assert Study.objects.get().pairs.filter(planted="attention").count() == 1


def test_lines_that_a_browser_sends_have_no_carriage_returns(ada: Client, build: Build) -> None:
    typed = "First.\r\n\r\nSecond."
    ada.post(
        reverse("study-new"), posted(build, question=typed, exclusions=typed, information=typed, planted=CODE)
    )
    study = Study.objects.get()
    assert {study.question, study.exclusions, study.information} == {"First.\n\nSecond."}
    planted = study.pairs.get(planted="attention")
    assert planted.pair.snippet.text == "def add(a):\n    return a"
    assert "U+000D" not in page(ada, "study", study.pk)


def test_ratings_of_planted_pairs_stand_beside_those_that_raters_have_room_for(
    ada: Client, build: Build
) -> None:
    text = ada.post(reverse("study-new"), posted(build, planted=PLANTED, step="preview")).content.decode()
    row = text[text.index('<td data-label="Ratings"') : text.index('<td data-label="Hours"')]
    told = " ".join(re.sub("<[^>]+>", " ", row).split())
    assert told == "9 + 3 planted 9"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"size": 0}, "marked below"),
        ({"builds": []}, "marked below"),
        ({"comparisons": "agents"}, "agents vs reading"),
        ({"planted": "kind,answer\nx,1\n"}, "Line 2"),
        ({"strata": ["label"], "per_query": 2}, "one pair a query"),
        ({"with_own_tests": ""}, "at least one condition"),
        ({"planted_file": SimpleUploadedFile("p.csv", b"\xff\xfe\x00")}, "no UTF-8"),
        ({"name": "x" * 121}, "marked below"),
    ],
)
def test_what_is_wrong_is_said(ada: Client, build: Build, changes: dict[str, Any], why: str) -> None:
    answer = ada.post(reverse("study-new"), posted(build, **changes))
    assert answer.status_code == 422 and why in answer.content.decode()
    assert not Study.objects.exists()


def test_a_draft_is_edited_until_it_runs(ada: Client, build: Build) -> None:
    ada.post(reverse("study-new"), posted(build, planted=PLANTED))
    study = Study.objects.get()
    form = page(ada, "study-edit", study.pk)
    assert "As good as people?" in form and "def add(a; b)" in form and "agents vs own_tests" in form
    ada.post(reverse("study-edit", args=[study.pk]), posted(build, size=2, planted=""))
    study.refresh_from_db()
    assert study.planned_pairs == 2 and study.enrolments.count() == 3
    ada.post(reverse("study-control", args=[study.pk]), {"action": "start"})
    assert ada.get(reverse("study-edit", args=[study.pk])).status_code == 302


def test_a_draft_that_somebody_else_has_edited_is_not_written_over(ada: Client, build: Build) -> None:
    ada.post(reverse("study-new"), posted(build))
    study = Study.objects.get()
    mine, theirs = seen_in(page(ada, "study-edit", study.pk)), posted(build, size=2)
    ada.post(reverse("study-edit", args=[study.pk]), {**theirs, "seen": mine})
    refused = ada.post(reverse("study-edit", args=[study.pk]), {**posted(build, size=1), "seen": mine})
    told = refused.content.decode()
    assert refused.status_code == 422 and "ada has changed the study" in told
    study.refresh_from_db()
    assert study.planned_pairs == 2
    ada.post(reverse("study-edit", args=[study.pk]), {**posted(build, size=1), "seen": seen_in(told)})
    study.refresh_from_db()
    assert study.planned_pairs == 1


def seen_in(text: str) -> str:
    found = re.search(r'name="seen" value="(\d+)"', text)
    assert found
    return found[1]


def test_too_little_capacity_is_shown_and_refused(ada: Client, build: Build) -> None:
    data = {**posted(build), **{f"capacity_{one.pk}": 1 for one in (factories.person("ruth"),)}}
    shown = ada.post(reverse("study-new"), {**data, "step": "preview"})
    assert "9 ratings are wanted" in shown.content.decode()
    ada.post(reverse("study-new"), data)
    study = Study.objects.get()
    answer = ada.post(reverse("study-control", args=[study.pk]), {"action": "start"}, follow=True)
    assert "raters can give 7" in answer.content.decode()
    study.refresh_from_db()
    assert study.state == "draft"


def test_a_draft_is_deleted(ada: Client, build: Build) -> None:
    ada.post(reverse("study-new"), posted(build))
    ada.post(reverse("study-control", args=[Study.objects.get().pk]), {"action": "delete"})
    assert not Study.objects.exists()


def test_an_unknown_action_is_a_bad_request(ada: Client) -> None:
    assert ada.post(reverse("study-control", args=[studies.study().pk]), {"action": "x"}).status_code == 400


def test_progress_is_told_by_rater_with_planted_pairs_and_skips(ada: Client) -> None:
    study = studies.study()
    study.pairs.filter(number=3).update(planted="attention", answer=1)
    ruth = studies.rater("ruth <i>", study)
    studies.rated(ruth, 0, study.pairs.get(number=3), seconds=90)
    studies.rated(ruth, 1, study.pairs.get(number=1), seconds=30)
    studies.assignment(ruth, study.pairs.get(number=2), state="skipped", skip_reason="<b>no idea")
    text = page(ada, "study-progress", study.pk)

    assert "ruth &lt;i&gt;" in text and "0 of 1" in text and "&lt;b&gt;no idea" in text
    assert "1 of 6" in text and "1 min" in text
    assert "<html" not in text


def test_hours_have_the_second_look_in_them(ada: Client) -> None:
    """Half an hour up to the first label, an hour and a half up to the second one."""
    study = studies.study(conditions=("second_look",))
    first = studies.rated(studies.rater("ruth", study), 1, seconds=1800.0)
    Rating.objects.create(
        assignment=first.assignment, phase="second_look", revision=1, value=1, seconds=5400.0, evidence=""
    )
    assert 'data-label="Hours" class="num">1.5<' in page(ada, "study-progress", study.pk)


def test_who_rates_in_a_study_does_not_see_its_page_until_it_is_closed(ada: Client) -> None:
    study = studies.study(created_by=factories.person("boss", Role.ADMIN))
    Enrolment.objects.create(
        study=study,
        user=factories.ada(),
        condition=studies.condition(study),
        capacity=5,
        pseudonym="R77",
        seed=1,
    )
    for route in ("study", "study-progress", "study-ratings", "study-amend", "study-again", "study-plan"):
        assert ada.get(reverse(route, args=[study.pk])).status_code == 403, route
    assert ada.post(reverse("study-control", args=[study.pk]), {"action": "close"}).status_code == 403
    assert ada.get(reverse("audit")).status_code == 403
    Study.objects.update(state=Study.State.CLOSED)
    assert "R77" in page(ada, "study", study.pk)


def test_the_plan_is_downloaded_as_it_is_hashed(ada: Client) -> None:
    study = studies.study("a “study”/x")
    plan.freeze_plan(study)
    answer = ada.get(reverse("study-plan", args=[study.pk]), {"format": "json"})
    assert hashlib.sha256(answer.content).hexdigest() == study.plan_hash
    assert answer["Content-Disposition"] == 'attachment; filename="a-studyx-plan.json"'
    text = ada.get(reverse("study-plan", args=[study.pk]), {"format": "md"}).content.decode()
    assert study.plan_hash in text
    assert AuditEvent.objects.filter(verb="exported").count() == 2


def test_ratings_are_downloaded(ada: Client) -> None:
    study = studies.study()
    studies.rated(studies.rater("ruth", study), 1)
    where = reverse("study-ratings", args=[study.pk])
    (row,) = json.loads(ada.get(where, {"format": "json"}).getvalue())
    assert row["value"] == 1 and row["condition"] == "own_tests"
    text = ada.get(where).getvalue().decode()
    assert text.startswith("pair,query,") and "R01" in text and "ruth" not in text


def test_decisions_and_skips_are_downloaded_and_what_else_is_not_there(ada: Client) -> None:
    study = studies.study()
    studies.rated(studies.rater("ruth", study), 1)
    where, text = reverse("study-ratings", args=[study.pk]), page(ada, "study", study.pk)
    for part in ("decisions", "skips"):
        assert f"{where}?part={part}&amp;format=csv" in text
        answer = ada.get(where, {"part": part})
        assert f"-{part}.csv" in answer["Content-Disposition"]
        assert answer.getvalue().decode().startswith("pair,query,")
    for part in ("drafts", "labels"):
        wrong = ada.get(where, {"part": part})
        assert wrong.status_code == 404
        assert "can be exported of this study is ratings, skips, decisions." in wrong.content.decode()
    found = AuditEvent.objects.filter(verb="exported").values_list("what", flat=True)
    assert set(found) == {f"decisions of {study}", f"skips of {study}"}


def test_a_running_study_is_amended(ada: Client) -> None:
    study = studies.study()
    plan.freeze_plan(study)
    data = {"reference": "own_tests", "margin": "0.1", "guideline": study.guideline_id or ""}
    refused = ada.post(reverse("study-amend", args=[study.pk]), data)
    told = refused.content.decode()
    assert refused.status_code == 422 and 'id="id_reason_error">The plan is frozen: say why' in told
    assert "optional" not in told.split('for="id_reason"')[1].split("</label>")[0]
    ada.post(reverse("study-amend", args=[study.pk]), {**data, "reason": "was <b>forgotten"})
    text = page(ada, "study", study.pk)
    assert "Amendment 1" in text and "was &lt;b&gt;forgotten" in text and "<ins>0.1</ins>" in text


def test_an_amendment_that_knows_nothing_of_another_is_refused_beside_what_stands(ada: Client) -> None:
    study = studies.study()
    plan.freeze_plan(study)
    where, seen = reverse("study-amend", args=[study.pk]), seen_in(page(ada, "study-amend", study.pk))
    data = {
        "reference": "own_tests",
        "guideline": study.guideline_id or "",
        "reason": "forgotten",
        "seen": seen,
    }
    ada.post(where, {**data, "margin": "0.1", "exclusions": "theirs"})
    refused = ada.post(where, {**data, "margin": "0.1", "exclusions": "mine"})
    told = refused.content.decode()
    assert refused.status_code == 422 and "Exclusion rules: theirs" in told and ">\nmine</textarea>" in told
    study.refresh_from_db()
    assert study.exclusions == "theirs" and study.amendments.count() == 1
    ada.post(where, {**data, "margin": "0.1", "exclusions": "mine", "seen": seen_in(told)})
    study.refresh_from_db()
    assert study.exclusions == "mine" and study.amendments.count() == 2


def test_pairs_are_counted_and_asked_again(ada: Client) -> None:
    study = studies.study()
    studies.rated(studies.rater("ruth", study), 1)
    where = reverse("study-again", args=[study.pk])
    assert "1 rated pair would" in ada.post(where, {"every": "on", "step": "count"}).content.decode()
    nothing = ada.post(where, {"step": "count"})
    assert (nothing.status_code, "Choose what is asked again" in nothing.content.decode()) == (422, True)
    refused = ada.post(where, {"every": "on"})
    assert refused.status_code == 422 and 'id="id_reason_error">Say why' in refused.content.decode()
    told = ada.post(where, {"every": "on", "reason": "stricter"}, follow=True).content.decode()
    assert "1 pair is asked again" in told


def test_a_reason_that_a_close_lacks_is_asked_for_beside_its_field(ada: Client) -> None:
    study = studies.study()
    where = reverse("study-control", args=[study.pk])
    refused = ada.post(where, {"action": "close"})
    told = refused.content.decode()
    assert refused.status_code == 422 and 'id="reason-problem">Some pairs have no rating yet' in told
    assert 'aria-describedby="reason-problem"' in told
    assert ada.post(where, {"action": "close", "reason": "no money"}).status_code == 302
    study.refresh_from_db()
    assert study.state == Study.State.CLOSED
    assert ada.post(where, {"action": "close"}).status_code == 302, "it is told on the study's page"


def test_a_finished_study_is_published(ada: Client) -> None:
    study = studies.study()
    for name in ("ruth", "sam"):
        studies.rated(studies.rater(name, study), 1, study.pairs.get(number=1))
    plan.freeze_plan(study)
    refused = page(ada, "study-publish", study.pk)
    assert "is closed can be published" in refused and "label of the reference" not in refused
    assert "Publish</button>" not in refused
    Study.objects.update(state=Study.State.CLOSED)
    asked = page(ada, "study-publish", study.pk)
    assert "1 label of the reference" in asked and "Publish</button>" in asked
    ada.post(reverse("study-publish", args=[study.pk]))
    assert Label.objects.count() == 1
    assert "published already" in page(ada, "study-publish", study.pk)
    study.builds.add(factories.launched("zoo"))
    text = page(ada, "study", study.pk)
    assert (
        "Published as the annotator" in text
        and reverse("build-publish", args=[Build.objects.get().pk]) in text
    )
    told = ada.post(reverse("study-publish", args=[study.pk]), follow=True).content.decode()
    assert "published already" in told


@pytest.mark.parametrize("where", ["/studies/{}/ratings/?format=csv", "/api/studies/{}/ratings"])
def test_whoever_takes_ratings_home_has_seen_the_pairs(ada: Client, where: str) -> None:
    study = rated_study([[1, 0]] * 3)
    assert ada.get(where.format(study.pk)).status_code == 200
    seen = Seen.objects.filter(user=factories.ada()).values_list("pair", flat=True)
    assert set(seen) == set(study.pairs.values_list("pair", flat=True))
