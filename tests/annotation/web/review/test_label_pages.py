"""Labelling: stored, refused, or shown again with all that was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.urls import reverse

from annotation import review
from annotation.accounts.roles import Role
from annotation.models import Case, Draft, Review, Seen
from annotation.review import drafts
from annotation.review.evidence_hash import evidence_hash
from annotation.web.cases.evidence import steps_of
from tests import factories
from tests.conftest import logged_in

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Answer

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def cases() -> list[Case]:
    """Nine cases, all settled as a match."""
    return [factories.settled(case, 1) for case in factories.cases(factories.opened())]


def form(case: Case, label: str, **fields: object) -> dict[str, object]:
    """What the page's form sends."""
    shown = {
        "evidence": evidence_hash(case, steps_of(case)),
        "seen_revision": 0,
        "reason": "",
        "label": label,
    }
    return {**shown, **fields}


def send(client: Client, case: Case, label: str, htmx: bool = False, **fields: object) -> Answer:
    headers = {"HX-Request": "true"} if htmx else {}
    return client.post(reverse("review-label", args=[case.pk]), form(case, label, **fields), headers=headers)


def test_a_label_is_stored_and_the_next_case_comes(erin: Client, cases: list[Case]) -> None:
    answer = send(erin, cases[0], "1")

    assert answer.status_code == 302
    assert answer["Location"] == reverse("review-case", args=[cases[1].pk])
    assert Review.objects.get().label == 1
    assert "Saved: match. Undo is next to the labels." in erin.get(answer["Location"]).content.decode()


def test_with_keys_the_undo_key_is_named(erin: Client, cases: list[Case]) -> None:
    there = send(erin, cases[0], "1", htmx=True)["Location"]

    assert "Saved: match. Press z to undo." in erin.get(there, headers=HTMX).content.decode()


def test_after_a_label_the_page_that_was_fetched_ahead_gets_only_what_the_label_changes(
    erin: Client, cases: list[Case]
) -> None:
    headers = HTMX | {"Painted": str(cases[1].pk)}
    answer = erin.post(reverse("review-label", args=[cases[0].pk]), form(cases[0], "1"), headers=headers)
    page = answer.content.decode()

    assert answer.status_code == 200
    assert Review.objects.get().label == 1
    assert "Saved: match. Press z to undo." in page
    assert "1 of 9 reviewed" in page
    assert reverse("review-undo", args=[cases[0].pk]) in page
    assert 'id="case"' not in page


def test_a_page_that_is_gone_was_not_fetched_ahead(erin: Client, cases: list[Case]) -> None:
    for painted in ("999999", "x", ""):
        headers = HTMX | {"Painted": painted}
        sent = form(cases[0], "1", seen_revision=Review.objects.count())
        answer = erin.post(reverse("review-label", args=[cases[0].pk]), sent, headers=headers)
        assert answer["Location"] == reverse("review-case", args=[cases[1].pk])


def test_a_page_that_is_fetched_ahead_counts_as_seen_and_takes_no_message(
    erin: Client, cases: list[Case]
) -> None:
    there = send(erin, cases[0], "1")["Location"]
    page = erin.get(there, headers=HTMX | {"Fetched-Ahead": "yes"}).content.decode()

    assert "Saved: match" not in page
    assert Seen.objects.filter(user__username="erin", pair=cases[1].pair_id, verdict=True).exists()
    assert "Saved: match" in erin.get(there, headers=HTMX).content.decode()


def test_a_page_that_is_fetched_ahead_can_be_made_before_it_is_shown(erin: Client, cases: list[Case]) -> None:
    there = reverse("review-case", args=[cases[1].pk])
    page = erin.get(there, headers=HTMX | {"Fetched-Ahead": "yes"}).content.decode()

    assert 'id="case"' in page
    assert not [live for live in ("hx-trigger", "hx-swap-oob", "autofocus", "<script") if live in page]


def test_unsure_is_a_review_without_a_label(erin: Client, cases: list[Case]) -> None:
    send(erin, cases[0], "unsure")

    assert Review.objects.get().label is None


def test_the_list_that_one_goes_through_is_kept(erin: Client, cases: list[Case]) -> None:
    answer = send(erin, cases[0], "1", show="all")

    assert answer["Location"].endswith(f"/{cases[1].pk}/?show=all")


def test_after_the_last_case_the_list_has_an_end(erin: Client, cases: list[Case]) -> None:
    for case in cases:
        answer = send(erin, case, "1")
    page = erin.get(answer["Location"], headers=HTMX).content.decode()

    assert "Nothing left in this list" in page
    assert "9 pairs" in page
    assert reverse("review-undo", args=[cases[-1].pk]) in page


def test_an_override_without_a_reason_opens_the_reason(erin: Client, cases: list[Case]) -> None:
    answer = send(erin, cases[0], "0", htmx=True)
    page = answer.content.decode()

    assert answer.status_code == 422
    assert (answer["HX-Retarget"], answer["HX-Reswap"]) == ("#label-form", "outerHTML")
    assert page.strip().startswith('<form id="label-form"')
    assert "Give a reason, a tag or lines for no match" in page
    assert "autofocus" in page
    assert "Save “no match”" in page
    assert not Review.objects.exists()


def test_without_javascript_the_same_is_a_whole_page(erin: Client, cases: list[Case]) -> None:
    answer = send(erin, cases[0], "0")

    assert answer.status_code == 422
    assert "<html" in answer.content.decode()
    assert "Give a reason, a tag or lines for no match" in answer.content.decode()


def test_an_override_with_a_reason_is_stored(erin: Client, cases: list[Case]) -> None:
    send(erin, cases[0], "0", reason="it returns a copy")

    stored = Review.objects.get()
    assert (stored.label, stored.agent_label, stored.reason) == (0, 1, "it returns a copy")


def test_two_windows_of_one_person_lose_nothing(erin: Client, cases: list[Case]) -> None:
    other = logged_in("erin")
    send(erin, cases[0], "1", reason="first window")
    answer = send(other, cases[0], "0", htmx=True, reason="second window")
    page = answer.content.decode()

    assert answer.status_code == 409
    assert "first window" in page
    assert ">second window</textarea>" in page
    told = page.partition('id="your-label" hx-swap-oob="true">')[2].partition("</p>")[0]
    assert "match" in told and "none yet" not in told, "the card above is not sent again"
    assert 'name="seen_revision" value="1"' in page
    assert Review.objects.count() == 1
    send(other, cases[0], "0", reason="second window", seen_revision=1)
    assert [found.reason for found in Review.objects.order_by("revision")] == [
        "first window",
        "second window",
    ]


def test_two_people_on_one_pair_meet_without_a_conflict(erin: Client, cases: list[Case]) -> None:
    eve = Client()
    eve.force_login(factories.person("eve", Role.EXPERT))
    send(erin, cases[0], "1")

    assert send(eve, cases[0], "0", reason="it copies").status_code == 302
    assert Review.objects.count() == 2


def test_evidence_that_changed_meanwhile_is_looked_at_first(erin: Client) -> None:
    case = factories.cases(factories.opened())[0]
    seen = form(case, "0", reason="no verdict was there")
    factories.settled(case, 1)
    answer = erin.post(reverse("review-label", args=[case.pk]), seen, headers=HTMX)
    page = answer.content.decode()

    assert answer.status_code == 409
    assert "The agents continued" in page
    assert ">no verdict was there</textarea>" in page
    assert not Review.objects.exists()


@pytest.mark.parametrize(
    ("label", "fields"),
    [
        ("", {}),
        ("7", {}),
        ("1", {"reason": "x" * 10_001}),
        ("1", {"seen_revision": "x"}),
        ("1", {"evidence": ""}),
    ],
)
def test_what_no_form_sends_is_refused(
    erin: Client, cases: list[Case], label: str, fields: dict[str, object]
) -> None:
    assert send(erin, cases[0], label, False, **fields).status_code in {409, 422}
    assert not Review.objects.exists()


def test_a_sent_reason_is_no_draft_any_more(erin: Client, cases: list[Case]) -> None:
    drafts.save_draft(factories.erin(), cases[0].pair_id, Draft.Field.REASON, "it cop")
    send(erin, cases[0], "0", reason="it copies")

    assert not Draft.objects.exists()


def test_readers_label_nothing(ray: Client, cases: list[Case]) -> None:
    assert send(ray, cases[0], "1").status_code == 403
    assert not Review.objects.exists()


def test_a_label_is_no_link(erin: Client, cases: list[Case]) -> None:
    answer = erin.get(reverse("review-label", args=[cases[0].pk]), {"label": "1"})

    assert answer["Location"] == reverse("review-case", args=[cases[0].pk])
    assert not Review.objects.exists()


def test_a_form_of_another_site_is_refused(cases: list[Case]) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(factories.erin())

    assert send(browser, cases[0], "1").status_code == 403
    assert not Review.objects.exists()


def test_undo_takes_back_and_leads_to_the_case(erin: Client, cases: list[Case]) -> None:
    send(erin, cases[0], "0", reason="it copies")
    answer = erin.post(reverse("review-undo", args=[cases[0].pk]), {"seen_revision": 1})
    page = erin.get(answer["Location"]).content.decode()

    assert answer["Location"] == reverse("review-case", args=[cases[0].pk])
    assert "You have no label on this pair now." in page
    assert ">it copies</textarea>" in page
    assert not Review.objects.current().exists()


def test_an_undo_from_a_stale_page_changes_nothing(erin: Client, cases: list[Case]) -> None:
    send(erin, cases[0], "1")
    send(erin, cases[0], "0", reason="it copies", seen_revision=1)
    answer = erin.post(reverse("review-undo", args=[cases[0].pk]), {"seen_revision": 1})

    assert "It is kept." in erin.get(answer["Location"]).content.decode()
    assert Review.objects.count() == 2


def test_an_undo_takes_back_what_its_page_showed_and_no_newer_label(erin: Client, cases: list[Case]) -> None:
    send(erin, cases[0], "1")
    page = erin.get(reverse("review-case", args=[cases[2].pk])).content.decode()
    assert reverse("review-undo", args=[cases[0].pk]) in page
    send(erin, cases[1], "1")  # in another window
    erin.post(reverse("review-undo", args=[cases[0].pk]), {"seen_revision": 1})

    assert Review.objects.current().get().pair_id == cases[1].pair_id


def test_there_may_be_nothing_to_undo(erin: Client, cases: list[Case]) -> None:
    answer = erin.post(reverse("review-undo", args=[cases[0].pk]), {"seen_revision": 0})

    assert "no label on this pair" in erin.get(answer["Location"]).content.decode()


def test_an_undo_says_which_label_stands_again(erin: Client, cases: list[Case]) -> None:
    user = factories.erin()
    review.store_label(user, cases[0], 1, "", "e" * 64, 0)
    review.store_label(user, cases[0], 0, "it copies", "e" * 64, 1)
    answer = erin.post(reverse("review-undo", args=[cases[0].pk]), {"seen_revision": 2})

    assert "is match again" in erin.get(answer["Location"]).content.decode()


def test_tags_and_active_seconds_go_along_with_the_label(erin: Client, cases: list[Case]) -> None:
    assert send(erin, cases[0], "0", tags=["unsafe", "inverse"], seconds="17").status_code == 302

    made = Review.objects.get()
    assert (made.label, made.reason, made.tags, made.seconds) == (0, "", ["inverse", "unsafe"], 17)


def test_tags_that_could_not_be_stored_are_still_ticked(erin: Client, cases: list[Case]) -> None:
    answer = send(erin, cases[0], "1", htmx=True, tags=["inverse", "<b>"])
    page = answer.content.decode()

    assert answer.status_code == 422
    assert 'value="inverse" checked' in page
    assert "There is no tag &#x27;&lt;b&gt;&#x27;" in page


def test_marked_lines_go_along_and_are_shown_with_the_label(erin: Client, cases: list[Case]) -> None:
    assert send(erin, cases[0], "0", lines="1-2").status_code == 302
    assert Review.objects.get().marked_lines == "1-2"

    page = erin.get(reverse("review-case", args=[cases[0].pk])).content.decode()
    assert '<a class="badge" href="#c-1"' in page and "lines 1–2</a>" in page
    assert 'name="lines" class="mono" value="1-2"' in page
    for address in (
        reverse("history"),
        reverse("review-list", args=[cases[0].build_id]),
        reverse("query", args=[cases[0].build_id, cases[0].query_id]),
    ):
        assert "lines 1–2" in erin.get(address).content.decode(), address


def test_lines_that_could_not_be_stored_are_shown_again(erin: Client, cases: list[Case]) -> None:
    answer = send(erin, cases[0], "1", htmx=True, lines="7-<b>")

    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Lines are written as 4-7" in page
    assert 'value="7-&lt;b&gt;"' in page
    assert not Review.objects.exists()


@pytest.mark.parametrize("seconds", ["", "x", "-3", "9" * 30])
def test_seconds_that_are_none_do_not_stop_a_label(erin: Client, cases: list[Case], seconds: str) -> None:
    assert send(erin, cases[0], "1", seconds=seconds).status_code == 302
    assert Review.objects.get().seconds == 0
