"""A rater's page of a pair: scales, docstrings, drafts, decisions, and what closes it."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Assignment,
    Condition,
    Quota,
    Rating,
    RatingDraft,
    Study,
)
from annotation.review.shortcuts import Action, save_keys
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from tests import factories, studies
from tests.annotation.web.review.test_case_pages import spoken
from tests.rating_pages import (
    DOCUMENTED,
    given,
    handed,
    of_code,
    of_two,
    page,
    path,
    send,
)

pytestmark = pytest.mark.django_db
Kind = Condition.Kind
State = Assignment.State


@pytest.mark.parametrize("docstring", Study.Docstring.values)
def test_the_docstring_is_shown_folded_or_nowhere(client: Client, docstring: str) -> None:
    html = page(client, of_code(client, DOCUMENTED, docstring=docstring))
    assert ("Tells the secret" in html) is (docstring != "hidden")
    assert ('class="docstring"' in html) is (docstring == "folded")
    assert ("docstring hidden" in html) is (docstring == "hidden")
    assert 'id="c-3"' in html, "lines keep their numbers"


@pytest.mark.parametrize("docstring", Study.Docstring.values)
def test_the_whole_text_of_a_long_snippet_keeps_to_the_studys_docstrings(
    client: Client, docstring: str
) -> None:
    long = DOCUMENTED + "".join(f"x = {line}\n" for line in range(2_000))
    of = of_code(client, long, docstring=docstring)
    assert f'<a href="{path(of, "text/")}">Whole text</a>' in page(client, of)
    whole = client.get(path(of, "text/")).content.decode()
    assert whole.endswith("x = 1999")
    assert ("Tells the secret" in whole) is (docstring == "shown")


def test_of_two_snippets_each_has_its_own_whole_text(client: Client) -> None:
    of = of_two(client, swapped=True)
    assert "def other" in client.get(path(of, "text/?side=left")).content.decode()
    assert "def reverse" in client.get(path(of, "text/?side=right")).content.decode()


def test_nobody_else_reads_the_text_of_a_raters_pair(client: Client, erin: Client) -> None:
    of = of_code(client, DOCUMENTED)
    assert erin.get(path(of, "text/")).status_code == 404


def test_lines_are_marked_by_the_numbers_of_the_whole_function(client: Client) -> None:
    of = of_code(client, DOCUMENTED, docstring="hidden")
    assert send(client, of, "1", lines="1-3", notes="so").status_code == 302
    made = Rating.objects.get()
    html = page(client, of)

    assert (made.marked_lines, made.marked_code) == ("1-3", of.study_pair.pair.snippet.digest)
    assert re.search(r'name="lines"[^>]*value="1-3"', html)
    assert send(client, of, "1", lines="3", notes="so", seen_revision="1").status_code == 302
    assert "lines 1–3" in page(client, of), "among the earlier labels"
    assert "line 3" in client.get(reverse("history") + "?of=ratings").content.decode()


def test_short_facts_above_the_pair_are_read_with_pauses(client: Client) -> None:
    of = of_code(client, DOCUMENTED, Kind.READING)
    (head,) = spoken(page(client, of), "case-meta")
    looking = "Judge by reading only: you can't run the code."
    assert unescape(head) == f"Study first study, 0 of 1 rated, pair #1, {looking}"


def test_two_snippets_have_no_lines_to_mark(client: Client) -> None:
    html = page(client, of_two(client))
    assert 'name="lines"' not in html and "data-marks" not in html


def test_after_the_blind_label_its_lines_are_shown(client: Client) -> None:
    of = given(client, Kind.REVEAL, factories.settled(factories.cases(factories.opened())[0], 1))
    send(client, of, "1", lines="1-2")
    assert re.search(r'You said:.*href="#c-1"[^>]*>lines 1–2</a>', page(client, of))


def test_it_is_stored_with_the_rating(client: Client) -> None:
    of = of_code(client, DOCUMENTED, docstring="folded")
    send(client, of, "1")
    assert Rating.objects.get().docstring == "folded"


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ("binary", ["1", "0", "unsure"]),
        ("steps", ["2", "1", "0", "unsure"]),
        ("graded", ["3", "2", "1", "0", "unsure"]),
    ],
)
def test_each_scale_has_its_buttons(client: Client, scale: str, words: list[str]) -> None:
    of = given(client, Kind.READING, scale=scale)
    assert re.findall(r'name="label" value="(\w+)"', page(client, of)) == words
    assert send(client, of, words[0]).status_code == 302
    assert Rating.objects.get().value == int(words[0])


def test_the_keys_of_a_scale_are_those_that_the_rater_chose(client: Client) -> None:
    of = given(client, Kind.READING, scale="graded")
    save_keys(of.rater, {Action.GRADED_EXACT: "5", Action.GRADED_NONE: ""}, on=True)
    buttons = re.findall(r'name="label" value="(\d)"(?: data-key="(.)")?', page(client, of))
    assert buttons == [("3", "5"), ("2", "2"), ("1", "1"), ("0", "")]


@pytest.mark.parametrize(("swapped", "value"), [(False, 1), (True, -1)])
def test_two_snippets_stand_side_by_side_as_shuffled(client: Client, swapped: bool, value: int) -> None:
    of = of_two(client, False, swapped)
    html = page(client, of)
    assert (html.index("reverse</span>") < html.index("other</span>")) is not swapped
    assert re.findall(r'name="label" value="(\w+)"', html) == ["left", "right"]
    send(client, of, "left")
    assert Rating.objects.get().value == value


def test_a_tie_is_there_where_the_study_allows_it(client: Client) -> None:
    assert 'value="tie"' in page(client, of_two(client, True, False))


def test_a_lapsed_reservation_keeps_the_draft_and_says_what_happened(client: Client) -> None:
    of = given(client, Kind.READING)
    client.post(path(of, "draft/"), {"field": "notes", "text": "half a thought"})
    Assignment.objects.update(state=State.LAPSED)
    html = page(client, of)
    assert "Your reservation of this pair ran out" in html
    assert "half a thought" in html
    assert "data-heartbeat" not in html


def test_a_place_that_is_gone_is_told_once_and_the_keys_go_on(client: Client) -> None:
    of = given(client, Kind.READING)
    Assignment.objects.update(state=State.LAPSED)
    Quota.objects.update(wanted=1, reserved=1)
    refused = send(client, of, "1", notes="late")
    assert refused.status_code == 409 and Rating.objects.count() == 0
    html = refused.content.decode()
    assert html.count("Your reservation of this pair ran out") == 1
    assert "its place has been given to another rater" in html and "may have been given" not in html
    assert "late</textarea>" in html and " autofocus" not in html


def test_a_pair_that_is_asked_again_says_so_and_takes_nothing_more(client: Client) -> None:
    of = given(client, Kind.READING)
    send(client, of, "1")
    ask_again(of.condition.study, RepeatPairFilter(every=True), "the meaning has changed", factories.ada())
    refused = send(client, of, "0", notes="late")
    html = refused.content.decode()
    assert refused.status_code == 409 and "late</textarea>" in html
    assert html.count("This pair is asked again, in a round of its own") == 1
    for shown in (html, page(client, of)):
        assert "This pair is asked again" in shown and "ran out" not in shown
        assert '<fieldset class="label-fields" disabled>' in shown and "data-heartbeat" not in shown


def test_the_heartbeat_says_when_the_pair_is_gone(client: Client) -> None:
    of = given(client, Kind.READING)
    assert client.post(path(of, "heartbeat/"), {"token": of.token}).status_code == 204
    for token in ("x", "\x00"):
        gone = client.post(path(of, "heartbeat/"), {"token": token})
        assert gone.status_code == 409
        assert "What you typed is kept" in gone.content.decode()


def test_two_windows_are_shown_both_texts(client: Client) -> None:
    of = given(client, Kind.READING)
    send(client, of, "1", notes="the first window")
    of.refresh_from_db()
    body = {"label": "0", "token": of.token, "evidence": "a" * 64, "seen_revision": 0, "notes": "the second"}
    clash = client.post(path(of, "submit/"), body)
    assert clash.status_code == 409
    html = clash.content.decode()
    assert "the first window" in html and "the second" in html
    assert Rating.objects.count() == 1


def test_a_stale_form_is_told_all_that_stands_and_all_that_it_sent(client: Client) -> None:
    of = given(client, Kind.READING)
    body = {"token": of.token, "evidence": "a" * 64, "seen_revision": 1}
    send(client, of, "1", notes="first thoughts")
    send(client, of, "0", notes="second thoughts", reading="a copy", tags=["partial"])
    stale = {**body, "label": "unsure", "notes": "", "reading": "in place", "tags": ["unsafe"]}
    refused = client.post(path(of, "submit/"), stale)
    assert refused.status_code == 409 and Rating.objects.count() == 2
    html = refused.content.decode()
    stands, sent = html.split('class="clash-sides"')[1].split("</dl>")[0].split("Yours, not saved")
    assert "second thoughts" in stands and "read as “a copy”" in stands and "partial" in stands
    assert "unsure" in sent and "read as “in place”" in sent and "unsafe" in sent
    fields = html.split('id="label-form"')[1]
    assert 'value="in place"' in fields
    notes = fields.split('id="notes"')[1].split("</textarea>")[0]
    assert notes.endswith(">"), "a note that was taken out does not come back from what stands"
    assert client.post(path(of, "submit/"), {**stale, "seen_revision": 2}).status_code == 302
    assert Rating.objects.current().get().reading == "in place"


def test_a_stale_form_of_a_rating_that_was_taken_back_is_told(client: Client) -> None:
    of = given(client, Kind.READING)
    send(client, of, "1")
    client.post(f"/rate/{of.condition.study_id}/undo/")
    of.refresh_from_db()
    stale = {"label": "0", "notes": "late", "token": of.token, "evidence": "a" * 64, "seen_revision": 1}
    refused = client.post(path(of, "submit/"), stale)
    html = refused.content.decode()
    assert refused.status_code == 409 and "nothing" in html.split("Saved</dt>")[1].split("</dd>")[0]
    assert html.split('id="notes"')[1].split("</textarea>")[0].endswith("late")
    assert not Rating.objects.current().exists()


def test_an_earlier_label_is_not_restored_over_a_newer_one_unseen(client: Client) -> None:
    of = given(client, Kind.READING)
    for value, notes in (("1", "first"), ("0", "second")):
        send(client, of, value, notes=notes)
    html = page(client, of)
    assert 'name="seen_revision" value="2"' in html.split("Earlier labels")[1]
    send(client, of, "unsure", notes="third")  # in another window
    first = Rating.objects.earliest("pk")
    to = path(of, f"ratings/{first.pk}/restore/")
    answer = client.post(to, {"seen_revision": 2}, follow=True)
    assert "the newer label is kept" in answer.content.decode()
    assert Rating.objects.current().get().notes == "third"
    client.post(to, {"seen_revision": 3})
    assert Rating.objects.current().get().notes == "first"


def test_tags_and_a_choice_come_back_from_the_draft(client: Client) -> None:
    of = given(client, Kind.READING)
    client.post(path(of, "draft/"), {"field": "choice", "text": "partial unsafe"})
    html = page(client, of)
    assert re.findall(r'value="(\w+)" checked', html) == ["partial", "unsafe"]
    send(client, of, "1", tags=["partial"])
    assert Rating.objects.get().tags == ["partial"]


def test_decisions_stay_in_reach_and_undo_opens_the_pair_again(client: Client) -> None:
    of = given(client, Kind.READING)
    send(client, of, "1", notes="kept")
    following = client.get(f"/rate/{of.condition.study_id}/next/", follow=True).content.decode()
    assert "Your last labels" in following
    assert path(of) in following
    assert "now</span>" in page(client, of), "it can still be changed"
    client.post(f"/rate/{of.condition.study_id}/undo/")
    of.refresh_from_db()
    assert of.state == State.RESERVED
    assert "kept" in page(client, of)


def test_the_last_label_can_be_undone_where_nothing_is_left(client: Client) -> None:
    of = handed(client, studies.study(conditions=[Kind.READING], pairs=studies.three_pairs()[:1]))
    welcome = f"/rate/{of.condition.study_id}/"
    assert "Undo my last label" not in client.get(welcome).content.decode()
    send(client, of, "1", notes="kept")
    form = re.search(
        r'name="undoes" value="([^"]+)">\s*<button[^>]* data-key="z"', client.get(welcome).content.decode()
    )
    assert form is not None
    client.post(f"{welcome}undo/", {"undoes": form[1]})
    of.refresh_from_db()
    assert of.state == State.RESERVED and "kept" in page(client, of)
    assert "Undo my last label" not in client.get(welcome).content.decode()


def test_a_pair_that_is_rated_already_says_so_to_who_skips_it(client: Client) -> None:
    of = given(client, Kind.READING)
    token = of.token
    send(client, of, "1")
    answer = client.post(path(of, "skip/"), {"token": token, "reason": "not Python"})
    assert answer.status_code == 422
    assert "Your label of this pair is stored" in answer.content.decode()


def test_skipping_needs_a_reason(client: Client) -> None:
    of = given(client, Kind.READING)
    assert client.post(path(of, "skip/"), {"token": of.token, "reason": " "}).status_code == 422
    assert client.post(path(of, "skip/"), {"token": of.token, "reason": "not Python"}).status_code == 302
    of.refresh_from_db()
    assert (of.state, of.skip_reason) == (State.SKIPPED, "not Python")
    assert "You skipped this pair: not Python" in page(client, of)


def test_why_a_pair_is_skipped_is_kept_until_it_was(client: Client) -> None:
    of, window = given(client, Kind.READING), {"draft_window": "this one"}

    def field() -> str:
        return page(client, of).split('id="skip-reason"')[1].split(">")[0]

    kept = client.post(path(of, "draft/"), {"field": "skip", "text": "needs <its> proj", **window})
    assert kept.status_code == 204
    assert 'value="needs &lt;its&gt; proj"' in field() and 'data-draft="skip"' in field()
    refused = client.post(path(of, "skip/"), {"token": "x" * 32, "reason": "needs its project", **window})
    assert refused.status_code == 409
    Assignment.objects.update(state=State.LAPSED)
    assert 'value="needs its project"' in field()
    body = {"token": of.token, "reason": "so", **window, "draft_skip": RatingDraft.objects.get().revision}
    assert client.post(path(of, "skip/"), body).status_code == 302
    assert not RatingDraft.objects.exists()
    client.post(f"/rate/{of.condition.study_id}/undo/")
    assert 'value="so"' in field()


def test_a_skip_takes_along_no_reason_that_another_window_has_kept(client: Client) -> None:
    of = given(client, Kind.READING)
    client.post(path(of, "draft/"), {"field": "skip", "text": "one", "draft_window": "one"})
    for reason, status in ((" ", 422), ("two", 302)):
        sent = client.post(path(of, "skip/"), {"token": of.token, "reason": reason, "draft_window": "two"})
        assert sent.status_code == status
        assert RatingDraft.objects.get().text == "one"


def test_a_draft_study_is_nowhere(client: Client) -> None:
    of = given(client, Kind.READING, state=Study.State.DRAFT)
    assert client.get(path(of)).status_code == 404
    assert client.get(f"/rate/{of.condition.study_id}/").status_code == 404


def test_a_closed_study_can_be_looked_at_only(client: Client) -> None:
    of = given(client, Kind.OWN_TESTS)
    Study.objects.update(state=Study.State.CLOSED, closed_at=timezone.now())
    assert '<fieldset class="label-fields" disabled>' in page(client, of)
    assert send(client, of, "1").status_code == 422
    assert not Rating.objects.exists()
    assert "is closed" in client.get(f"/rate/{of.condition.study_id}/").content.decode()


def test_an_earlier_label_is_restored_from_the_pair_and_from_the_history(client: Client) -> None:
    of = given(client, Kind.READING)
    send(client, of, "1", notes="it turns the list", tags=["partial"])
    assert "Earlier labels" not in page(client, of)
    send(client, of, "0", notes="it does not")
    first = Rating.objects.earliest("pk")
    where = path(of, f"ratings/{first.pk}/restore/")
    assert f'action="{where}"' in page(client, of)
    assert f'action="{where}"' in client.get("/history/?of=ratings").content.decode()
    answer = client.post(where)
    assert answer["Location"] == path(of)
    html = page(client, of)
    assert "Restored: match" in html
    assert Rating.objects.latest("pk").notes == "it turns the list"
    second = Rating.objects.get(revision=2)
    assert f"ratings/{second.pk}/restore/" in html and where not in html, "what stands is not offered"


def test_a_rater_may_say_how_they_read_the_query(client: Client) -> None:
    of = given(client, Kind.READING)
    assert "How you understood the query" in page(client, of)
    client.post(path(of, "draft/"), {"field": "reading", "text": "in <i>pl"})
    assert 'value="in &lt;i&gt;pl"' in page(client, of)
    send(client, of, "1", reading="in <i>place</i>")
    assert Rating.objects.get().reading == "in <i>place</i>"
    assert 'value="in &lt;i&gt;place&lt;/i&gt;"' in page(client, of)
    send(client, of, "1", reading="a copy")
    assert "read as “in &lt;i&gt;place" in page(client, of)


def test_what_can_not_be_restored_is_said(client: Client) -> None:
    of = given(client, Kind.SECOND_LOOK)
    send(client, of, "1")
    blind = Rating.objects.get()
    client.post(path(of, f"ratings/{blind.pk}/restore/"))
    assert "A locked first answer" in page(client, of)
    rolf = studies.rater("rolf", of.condition.study)
    studies.assignment(rolf, of.study_pair)
    client.force_login(rolf.user)
    assert client.post(path(of, f"ratings/{blind.pk}/restore/")).status_code == 403


def test_a_skip_that_is_refused_loses_nothing_that_was_typed(client: Client) -> None:
    of = given(client, Kind.READING)
    old, window = of.token, {"draft_window": "this one", "draft_notes": ""}
    client.post(path(of, "draft/"), {"field": "notes", "text": "half a thought", **window})
    client.post(path(of, "draft/"), {"field": "choice", "text": "partial"})
    Assignment.objects.update(token="t" * 31 + "u")
    refused = client.post(path(of, "skip/"), {"token": old, "reason": "needs <its> project"})
    html = refused.content.decode()
    assert refused.status_code == 409 and "This pair is open in another window" in html
    assert "half a thought</textarea>" in html and "data-draft-unsaved" not in html
    assert re.findall(r'value="(\w+)" checked', html) == ["partial"]
    assert 'name="reason" value="needs &lt;its&gt; project"' in html
    too_long = client.post(path(of, "skip/"), {"token": old, "reason": "x" * 2001})
    assert too_long.status_code == 422 and f'value="{"x" * 2001}"' in too_long.content.decode()
