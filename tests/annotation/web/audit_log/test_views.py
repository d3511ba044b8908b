"""The audit log: filters, pages, a file without formulas; the history of labels, and a way back."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from django.test import Client
from django.urls import reverse

from annotation import review
from annotation.models import AuditEvent, Case, Rating, Review, Seen
from annotation.studies.audit_log import LONGEST_DETAIL, Verb, append_audit_event
from annotation.studies.plan.form_checks import RaterStatement
from annotation.studies.rating import ratings as rating
from annotation.web.audit_log import page as audit
from tests import factories, studies
from tests.annotation.models.reviews.test_contradictions import say

pytestmark = pytest.mark.django_db


def text(client: Client, route: str, **query: str) -> str:
    answer = client.get(reverse(route), query)
    assert answer.status_code == 200
    return answer.getvalue().decode()


def test_the_log_is_filtered(ada: Client) -> None:
    study = studies.study()
    append_audit_event(factories.ada(), Verb.STUDY_PAUSED, "one <b>", study, {"why": "<i>"})
    append_audit_event(factories.erin(), Verb.GUIDELINE_READ, "two")
    everything = text(ada, "audit")
    assert "one &lt;b&gt;" in everything and "two" in everything and "&lt;i&gt;" in everything
    assert "one" not in text(ada, "audit", who="erin").partition("<tbody>")[2]
    assert "two" not in text(ada, "audit", verb="study paused").partition("<tbody>")[2]
    of_study = text(ada, "audit", study=str(study.pk)).partition("<tbody>")[2]
    assert "one &lt;b&gt;" in of_study and "two" not in of_study
    assert "Nothing matches" in text(ada, "audit", since="2999-01-01")
    assert "Nothing matches" in text(ada, "audit", until="1999-01-01")
    assert "Nothing matches" in text(ada, "audit", since="no date")


def test_a_reason_that_nobody_gave_is_no_detail(ada: Client) -> None:
    append_audit_event(
        factories.ada(), Verb.STUDY_CLOSED, "zoo", detail={"why": "", "pairs": 0, "plan_hash": "abc"}
    )
    assert ">pairs: 0; plan hash: abc</td>" in text(ada, "audit")


def test_the_log_has_pages(ada: Client) -> None:
    for number in range(60):
        append_audit_event(None, Verb.EXPORTED, f"number {number}.")
    first = text(ada, "audit")
    assert "number 59." in first and "number 9." not in first
    last = AuditEvent.objects.order_by("-pk")[49]
    assert "number 9." in text(ada, "audit", after=str(last.pk))


def test_the_file_has_no_formulas(ada: Client) -> None:
    append_audit_event(factories.ada(), Verb.EXPORTED, "=HYPERLINK(1)")
    rows = list(csv.DictReader(StringIO(text(ada, "audit-export", verb="exported"))))
    assert "'=HYPERLINK(1)" in [row["what"] for row in rows]
    assert AuditEvent.objects.filter(what="audit log").exists()


def test_a_file_that_is_cut_says_so_in_its_last_row_and_the_page_beside_the_button(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "MOST_EXPORTED", 2)
    for number in range(3):
        append_audit_event(None, Verb.STUDY_PAUSED, f"number {number}")
    asked = {"verb": "study paused"}
    assert "ends after the newest 2 entries" in text(ada, "audit", **asked)
    rows = list(csv.DictReader(StringIO(text(ada, "audit-export", **asked))))
    assert [row["what"] for row in rows[:2]] == ["number 2", "number 1"]
    day = AuditEvent.objects.get(what="number 0").at
    assert rows[2]["what"] == f"Cut after 2 entries. The older ones: export with “To” {day:%Y-%m-%d}."
    assert len(rows) == 3 and not rows[2]["verb"]


def test_a_whole_file_says_nothing_of_a_cut(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MOST_EXPORTED", 2)
    for number in range(2):
        append_audit_event(None, Verb.STUDY_PAUSED, f"number {number}")
    assert "ends after" not in text(ada, "audit", verb="study paused")
    assert "Cut after" not in text(ada, "audit-export", verb="study paused")


def test_of_a_wrong_filter_there_is_no_empty_file(ada: Client) -> None:
    told = ada.get(reverse("audit-export"), {"since": "no date"}, follow=True)
    assert told.redirect_chain and "Enter a valid date" in told.content.decode()
    assert not AuditEvent.objects.exists()


def test_details_are_capped_and_clean() -> None:
    large = append_audit_event(
        None, Verb.EXPORTED, "x\x00" * 400, detail={"text": "y" * (LONGEST_DETAIL + 1)}
    )
    large.refresh_from_db()
    assert len(large.what) == 300 and "\x00" not in large.what
    assert large.detail["cut_after"] == LONGEST_DETAIL


@pytest.fixture
def labelled() -> Review:
    """Erin's label of a pair, in three revisions."""
    case: Case = factories.settled(factories.cases(factories.opened())[0], 1)
    for number, (label, reason) in enumerate(((1, ""), (0, "wrong order"), (None, "unsure now"))):
        made = review.store_label(factories.erin(), case, label, reason, "a" * 64, number)
    return made


def test_every_revision_is_listed_for_admins(ada: Client, labelled: Review) -> None:
    page = text(ada, "audit-labels")
    assert page.count("wrong order") == 1 and page.count(">current<") == 1 and "Restore" not in page
    assert Seen.objects.filter(user=factories.ada(), pair=labelled.pair).exists()
    assert "wrong order" not in text(ada, "audit-labels", who="ray")
    assert "wrong order" in text(ada, "audit-labels", pair=str(labelled.pair_id))
    assert "Nothing matches" in text(ada, "audit-labels", pair="-1")


def test_ratings_are_listed_too(ada: Client) -> None:
    studies.rated(studies.rater("ruth", studies.study()), 1, notes="as <b> asked", reading="in <i>place")
    shown = text(ada, "audit-labels", of="ratings")
    assert "as &lt;b&gt; asked" in shown and "read as “in &lt;i&gt;place”" in shown


def test_an_earlier_revision_stands_again(erin: Client, labelled: Review) -> None:
    second = Review.objects.get(revision=2)
    assert text(erin, "history").count("Restore</button>") == 2
    erin.post(reverse("history-restore", args=[second.pk]))
    last = Review.objects.get(revision=4)
    assert (last.label, last.reason, last.supersedes) == (0, "wrong order", labelled)
    assert Review.objects.count() == 4
    assert AuditEvent.objects.filter(verb="restored").count() == 1
    told = erin.post(reverse("history-restore", args=[second.pk]), follow=True).content.decode()
    assert "That is the current label" in told and Review.objects.count() == 4


@pytest.mark.parametrize("of", ["reviews", "ratings"])
def test_a_stale_page_restores_nothing_over_a_newer_label(erin: Client, labelled: Review, of: str) -> None:
    if of == "ratings":
        study = studies.study()
        held = studies.assignment(studies.rater("erin", study))
        for seen, value in enumerate((1, 0, None)):
            rating.submit_rating(
                held, held.token, RaterStatement(value, "", "", (), 1.0, (), (), "a" * 64), seen
            )
    assert 'name="seen_revision" value="3"' in text(erin, "history", of=of)
    earlier = (Rating if of == "ratings" else Review).objects.get(revision=1)
    to = (
        reverse("history-restore", args=[earlier.pk])
        if of == "reviews"
        else reverse("rate-restore", args=[study.pk, held.study_pair.number, earlier.pk])
    )
    told = erin.post(to, {"seen_revision": 2}, follow=True).content.decode()
    assert "the newer label is kept" in told
    assert type(earlier)._default_manager.count() == 3
    erin.post(to, {"seen_revision": 3})
    assert type(earlier)._default_manager.count() == 4


def test_what_an_earlier_revision_rested_on_stands_again_with_it(erin: Client) -> None:
    case: Case = factories.settled(factories.cases(factories.opened())[0], 1)
    beside = review.Beside(("inverse", "test_wrong_reading"), 12)
    first = review.store_label(factories.erin(), case, 0, "", "a" * 64, 0, beside)
    Review.objects.filter(pk=first.pk).update(calls=[7], runs=[8, 9])
    review.store_label(factories.erin(), case, 1, "", "a" * 64, 1)
    erin.post(reverse("history-restore", args=[first.pk]))
    last = Review.objects.get(revision=3)
    assert (last.label, last.tags, last.is_override) == (0, ["inverse", "test_wrong_reading"], True)
    assert (last.seconds, last.calls, last.runs) == (12, [7], [8, 9])


def test_only_ones_own_labels_are_restored(ada: Client, labelled: Review) -> None:
    assert ada.post(reverse("history-restore", args=[labelled.pk])).status_code == 404


def test_ones_own_history_shows_nobody_elses(ray: Client, ada: Client, labelled: Review) -> None:
    assert "wrong order" not in text(ada, "history")
    assert ray.get(reverse("history")).status_code == 403


def test_a_revision_is_told_with_its_tags_and_what_it_rests_on(erin: Client) -> None:
    case: Case = factories.settled(factories.cases(factories.opened())[0], 1)
    beside = review.Beside(("inverse", "test_wrong_reading"), 12)
    first = review.store_label(factories.erin(), case, 0, "", "a" * 64, 0, beside)
    Review.objects.filter(pk=first.pk).update(calls=[7], runs=[8, 9])
    rows = text(erin, "history").partition("<tbody>")[2]
    for told in ("no match", "inverse", "test: wrong reading", "1 call", "2 runs"):
        assert told in rows


def test_ones_own_labels_lead_to_their_pairs_and_have_no_numbers_of_pairs(erin: Client) -> None:
    case: Case = factories.settled(factories.cases(factories.opened())[0], 1)
    say(factories.erin(), case, 0)
    page = text(erin, "history")
    assert f'href="{reverse("review-case", args=[case.pk])}"' in page.partition("<tbody>")[2]
    assert "Pair number" not in page and '<th scope="col">Reason</th><th scope="col">Tags</th>' in page
    assert '1</dd><dd class="stat-note">labels in review' in page


def test_a_label_of_a_closed_build_leads_nowhere(client: Client) -> None:
    case: Case = factories.settled(factories.cases(factories.opened())[0], 1)
    rita = studies.rater("rita", studies.study(pairs=[case.pair]))
    say(rita.user, case, 0)
    say(factories.erin(), case, 0)
    client.force_login(rita.user)
    page = text(client, "history")
    assert "reverse a list" in page and reverse("review-case", args=[case.pk]) not in page
    assert "nobody labelled your pairs later" in page


def test_labels_are_found_by_words_of_their_query(erin: Client) -> None:
    for case in factories.cases(factories.opened())[:4:3]:
        say(factories.erin(), factories.settled(case, 1), 1)
    found = text(erin, "history", query="REVERSE").partition("<tbody>")[2]
    assert found.count("<tr>") == 1 and "reverse a list" in found
    assert "Nothing matches" in text(erin, "history", query="zzz")


def test_a_long_note_can_be_read_to_its_end(erin: Client) -> None:
    studies.rated(studies.rater("erin", studies.study()), 1, notes="word " * 200 + "the end")
    assert "the end</div></details>" in text(erin, "history", of="ratings")


@pytest.mark.parametrize(("swapped", "side"), [(False, "right"), (True, "left")])
def test_the_side_is_told_and_not_which_snippet_stood_there(erin: Client, swapped: bool, side: str) -> None:
    study = studies.study(kind="pairwise", scale="preference")
    rating = studies.rated(studies.rater("erin", study), -1)
    type(rating.assignment).objects.update(swapped=swapped)
    rows = text(erin, "history", of="ratings").partition("<tbody>")[2]
    assert f">{side} is better" in rows and ">-1" not in rows


def test_what_a_command_did_is_told_as_such(ada: Client) -> None:
    study = studies.study()
    append_audit_event(None, Verb.EXPORTED, "ratings", study)
    append_audit_event(None, Verb.STUDY_FROZEN, study.name, study)
    page = ada.get(reverse("study", args=[study.pk])).content.decode()
    assert page.count("on the command line, ") == page.count("at the first rating, ") == 1
