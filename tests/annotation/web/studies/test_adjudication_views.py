"""Pages on which somebody decides where raters split."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.models import Adjudication, Enrolment, Precedent, Rating, Seen, Study, Trial
from annotation.review.shortcuts import switch_keys
from annotation.studies.adjudication.decisions import AdjudicationDecision, store_decision
from annotation.studies.enrolment import extra_raters
from annotation.studies.report.figure_data import is_complete
from annotation.web.studies.split_pairs import PAGE_SIZE
from sandbox.program import Limits
from sandbox.reports.report import Outcome
from tests import factories, studies
from tests.annotation.studies.adjudication.test_decisions import (
    condition,
    own_test,
    pair,
    raters,
    said,
    study,
)
from tests.annotation.web.review.test_case_pages import spoken
from tests.fakes import FakeSandbox

__all__ = ["raters", "study"]  # fixtures
pytestmark = pytest.mark.django_db


@pytest.fixture
def split(study: Study, raters: list[Enrolment]) -> Study:
    """A study with one pair that waits, on which two raters wrote a test."""
    said(study, raters, 1, 1, 0, 0)
    ratings = Rating.objects.order_by("id")
    own_test(ratings[0], "assert reverse([1, 2]) == [2, 1]\nassert reverse([]) == []\n")
    own_test(ratings[2], "assert reverse([]) == []\nassert reverse([1, 2]) is None\n")
    Rating.objects.filter(pk=ratings[2].pk).update(notes="<i>in place</i>", tags=["partial"])
    return study


def where(study: Study, name: str = "adjudication-pair") -> str:
    return reverse(name, args=[study.pk, 1, condition(study).pk])


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def test_the_queue_says_what_waits(erin: Client, split: Study) -> None:
    assert "1 pair to decide" in text(erin, reverse("work"))
    shown = text(erin, reverse("adjudication-queue", args=[split.pk]))
    assert "33 %" in shown
    assert where(split) in shown
    assert reverse("study-figures", args=[split.pk]) in shown


def test_only_the_studies_that_the_page_shows_are_counted(erin: Client, split: Study) -> None:
    """Twenty a page: what is behind them costs nothing."""
    for number in range(PAGE_SIZE - 1):
        studies.study(f"later {number}", pairs=())
    with CaptureQueriesContext(connection) as full:
        shown = text(erin, reverse("work"))
    assert "1 pair to decide" in shown and "Next" not in shown
    for number in range(PAGE_SIZE, PAGE_SIZE + 10):
        studies.study(f"later {number}", pairs=())
    with CaptureQueriesContext(connection) as first:
        shown = text(erin, reverse("work"))
    assert "1 pair to decide" not in shown and len(first) < len(full)
    follow = re.search(r'rel="next" href="([^"]+)"', shown)
    assert follow and "1 pair to decide" in text(erin, reverse("work") + follow[1])


def test_whoever_looks_at_the_queue_has_seen_how_its_pairs_were_rated(erin: Client, split: Study) -> None:
    other = split.pairs.get(number=2).pair
    split.pairs.filter(number=1).update(other=other)
    text(erin, reverse("adjudication-queue", args=[split.pk]))
    shown = set(Seen.objects.filter(user=factories.erin()).values_list("pair", flat=True))
    assert shown == {split.pairs.get(number=1).pair_id, other.pk}


def test_short_facts_above_the_pair_are_read_with_pauses(erin: Client, split: Study) -> None:
    (head,) = spoken(text(erin, where(split)), "case-meta")
    assert head == "Your work, study first study, pair 1, own tests"


def test_every_region_of_code_has_a_name_of_its_own(erin: Client, split: Study) -> None:
    split.pairs.filter(number=1).update(other=split.pairs.get(number=1).pair)
    names = re.findall(r'class="code-scroll"[^>]*aria-label="([^"]+)"', text(erin, where(split)))
    assert len(names) == 4 and len(set(names)) == len(names), names


def test_whoever_looks_at_two_snippets_has_seen_both(erin: Client, split: Study) -> None:
    other = split.pairs.get(number=2).pair
    split.pairs.filter(number=1).update(other=other)
    text(erin, where(split))
    assert Seen.objects.filter(user=factories.erin(), pair=other).exists()


def test_the_queue_offers_no_figures_that_are_closed(client: Client, split: Study) -> None:
    rater = split.enrolments.all()[0]
    Enrolment.objects.filter(pk=rater.pk).update(finished_at=rater.accepted_at)
    client.force_login(rater.user)
    shown = text(client, reverse("adjudication-queue", args=[split.pk]))
    assert (reverse("study-figures", args=[split.pk]) in shown) is is_complete(split)
    split.pairs.get(number=1).quotas.update(wanted=9)
    shown = text(client, reverse("adjudication-queue", args=[split.pk]))
    assert reverse("study-figures", args=[split.pk]) not in shown


def test_the_study_links_to_its_splits_with_the_count_and_back(
    ada: Client, erin: Client, split: Study
) -> None:
    queue, page = reverse("adjudication-queue", args=[split.pk]), reverse("study", args=[split.pk])
    assert f'href="{queue}">Splits: 1 to decide</a>' in text(ada, page)
    assert f'href="{page}">The study</a>' in text(ada, queue)
    assert f'href="{page}"' not in text(erin, queue)
    found = pair(split)
    store_decision(factories.ada(), found, condition(split), AdjudicationDecision(1, "slip", "so"), 0)
    assert "Splits: 0 to decide, 1 decided" in text(ada, page)


def test_a_pair_of_which_one_more_is_asked_does_not_wait(erin: Client, split: Study) -> None:
    studies.rater("rex", split)
    Study.objects.filter(pk=split.pk).update(one_more=True)
    split.refresh_from_db()
    assert extra_raters.request_extra_ratings(split) == 1
    shown = text(erin, reverse("adjudication-queue", args=[split.pk]))
    assert "Nothing to decide." in shown and "Of 1 pair more another rater is asked first" in shown


def test_a_pair_shows_each_rater_under_the_pseudonym_and_no_name(erin: Client, split: Study) -> None:
    Rating.objects.filter(assignment__enrolment__pseudonym="R04").update(reading="the <u>first</u> sense")
    shown = text(erin, where(split))

    assert all(name in shown for name in ("R01", "R02", "R03", "R04"))
    assert "the &lt;u&gt;first&lt;/u&gt; sense" in shown and "Test 1:" in shown and "not run" in shown
    assert "&lt;i&gt;in place&lt;/i&gt;" in shown and "partial" in shown and "Reading:" in shown
    for name in ("ro", "ri", "ru", "re"):
        assert f">{name}<" not in shown and f">{name}," not in shown
    assert Seen.objects.filter(user=factories.erin(), pair=pair(split).pair).exists()


def test_the_inputs_on_which_they_part_come_first(erin: Client, split: Study) -> None:
    shown = text(erin, where(split))

    assert shown.index('reverse([1, 2])</code> <span class="badge is-warn">they part') < shown.index(
        "reverse([])</code></th>"
    )
    assert "R01 expects" in shown and "R03 expects" in shown


def test_the_tests_are_run_on_request_and_tell_who_is_right(erin: Client, split: Study) -> None:
    assert "Run 2 tests with the function" in text(erin, where(split))
    answer = erin.post(where(split, "adjudication-run"))
    assert (answer.status_code, answer["Location"]) == (302, where(split))
    polled = erin.get(where(split), headers={"HX-Request": "true"}).content.decode()
    assert "2 runs to come" in polled and 'hx-trigger="every 1s"' in polled
    failed = factories.a_report(Outcome.FAILED)
    while fulfil_one(SandboxProvider(open=lambda: FakeSandbox(failed)), Limits()):
        pass

    assert Trial.objects.filter(state=Trial.State.DONE).count() == 2
    done = erin.get(where(split), headers={"HX-Request": "true"}).content.decode()
    assert "hx-trigger" not in done and "it is not so" in done


def test_the_keys_of_labels_choose_what_is_decided(erin: Client, split: Study) -> None:
    page = text(erin, where(split))

    for value, key in (("1", "1"), ("0", "0"), ("none", "2")):
        assert f'name="value" value="{value}" data-key="{key}" aria-keyshortcuts="{key}"' in page
    switch_keys(factories.erin(), on=False)
    assert "data-key" not in text(erin, where(split))


def test_the_form_stands_above_what_raters_did_with_the_guidelines_at_hand(
    erin: Client, split: Study
) -> None:
    page = text(erin, where(split))
    assert page.index('id="decide-note"') < page.index("Guidelines <span") < page.index('id="voter-1"')
    assert "A match does all that is asked." in page


def test_a_study_without_tests_has_nothing_to_compare(
    erin: Client, study: Study, raters: list[Enrolment]
) -> None:
    said(study, raters, 1, 1, 0, 0)
    page = text(erin, where(study))
    assert page.count("No rater wrote a test.") == 1
    assert "No test." not in page and "Where the tests disagree" not in page


def test_a_study_with_nothing_to_decide_is_not_in_the_list(erin: Client, split: Study) -> None:
    studies.study("agreed upon", pairs=())
    page = text(erin, reverse("work"))
    assert "first study" in page and "agreed upon" not in page
    store_decision(factories.ada(), pair(split), condition(split), AdjudicationDecision(1, "slip", "so"), 0)
    page = text(erin, reverse("work"))
    assert "Nothing to decide" in page and "first study" in page.partition("<details")[2], "still in reach"


def test_decide_leads_to_the_first_pair_that_one_did_not_rate(erin: Client, split: Study) -> None:
    queue = reverse("adjudication-queue", args=[split.pk])
    answer = erin.get(queue, {"next": "yes"})
    assert (answer.status_code, answer["Location"]) == (302, where(split))
    rater = split.enrolments.all()[0]
    Enrolment.objects.filter(pk=rater.pk).update(finished_at=rater.accepted_at)
    erin.force_login(rater.user)
    assert erin.get(queue, {"next": "yes"}).status_code == 200, "whoever rated a pair does not decide on it"


def test_a_decision_is_stored_and_said(erin: Client, split: Study) -> None:
    sent = {"value": "1", "cause": "slip", "note": "a <b>slip</b>", "seen": "0", "precedent": "on"}
    answer = erin.post(where(split), sent)

    queue = reverse("adjudication-queue", args=[split.pk])
    assert (answer.status_code, answer["Location"]) == (302, f"{queue}?next=yes")
    assert "is decided" in text(erin, f"{queue}?next=yes"), "nothing else waits, so it is the list"
    assert Adjudication.objects.get().by == factories.erin()
    shown = text(erin, where(split))
    assert "Decide again" in shown and "rater error" in shown and "a &lt;b&gt;slip&lt;/b&gt;" in shown
    assert "Decided" in text(erin, reverse("adjudication-queue", args=[split.pk]))
    found = text(erin, reverse("precedents") + "?q=slip")
    assert "a &lt;b&gt;slip&lt;/b&gt;" in found
    assert "None like that" in text(erin, reverse("precedents") + "?q=zzz")


def test_the_lines_of_raters_and_of_the_decision_are_shown(erin: Client, split: Study) -> None:
    of = pair(split)
    marked = {"marked_first": 1, "marked_last": 2, "marked_code": of.pair.snippet.digest}
    Rating.objects.filter(pk=Rating.objects.order_by("pk")[0].pk).update(**marked)
    sent = {"value": "1", "cause": "slip", "note": "so", "seen": "0", "precedent": "on"}
    refused = erin.post(where(split), sent | {"lines": "1-99"})
    assert (refused.status_code, 'value="1-99"' in refused.content.decode()) == (422, True)
    assert text(erin, where(split)).count(">lines 1–2</a>") == 1, "the rater's"
    assert erin.post(where(split), sent | {"lines": "1-2"}).status_code == 302

    assert text(erin, where(split)).count(">lines 1–2</a>") == 2
    assert "lines 1–2" in text(erin, reverse("precedents"))


@pytest.mark.parametrize(
    ("sent", "status", "complaint"),
    [
        ({"value": "", "cause": "slip", "note": "so"}, 422, "Choose what was decided"),
        ({"value": "none", "cause": "", "note": "so"}, 422, "why raters split"),
        ({"value": "0", "cause": "slip", "note": ""}, 422, "Say in a note"),
        ({"value": "0", "cause": "slip", "note": "so", "seen": "77"}, 409, "Somebody decided on this pair"),
    ],
)
def test_what_is_not_stored_is_shown_again(
    erin: Client, split: Study, sent: dict[str, str], status: int, complaint: str
) -> None:
    answer = erin.post(where(split), {"seen": "0", **sent})

    assert (answer.status_code, complaint in answer.content.decode()) == (status, True)
    if sent["note"]:
        assert ">so</textarea>" in answer.content.decode()
    assert not Adjudication.objects.exists()


def test_raters_of_the_study_and_of_the_pair_are_kept_out(split: Study, raters: list[Enrolment]) -> None:
    theirs = Client()
    theirs.force_login(raters[0].user)
    assert "closed to you" in text(theirs, reverse("work"))
    for path in (reverse("adjudication-queue", args=[split.pk]), where(split)):
        assert theirs.get(path).status_code == 403
    Study.objects.update(state=Study.State.CLOSED)
    assert theirs.get(reverse("adjudication-queue", args=[split.pk])).status_code == 200
    answer = theirs.get(where(split))
    assert (answer.status_code, "You rated this pair yourself" in answer.content.decode()) == (403, True)
    assert theirs.post(where(split, "adjudication-run")).status_code == 403


def test_where_there_is_nothing_to_decide_it_says_so(
    erin: Client, study: Study, raters: list[Enrolment]
) -> None:
    said(study, raters, 1, 1, 1, 0)

    assert "There is nothing to decide" in text(erin, where(study))
    assert "Nothing to decide" in text(erin, reverse("adjudication-queue", args=[study.pk]))


def test_drafts_and_foreign_labels_are_not_there(erin: Client, study: Study) -> None:
    Study.objects.update(state=Study.State.DRAFT)
    assert "to decide" not in text(erin, reverse("work"))
    assert erin.get(reverse("adjudication-queue", args=[study.pk])).status_code == 404
    assert text(erin, reverse("precedents")).count("No precedent yet") == 1


def test_a_precedent_of_a_pair_that_is_still_rated_is_not_told(split: Study) -> None:
    made = store_decision(
        studies.user("judge"),
        pair(split),
        condition(split),
        AdjudicationDecision(1, "code", "quokka", True),
        0,
    )
    late = Client()
    late.force_login(User.objects.get(pk=studies.rater("late", split).user_id))

    assert Precedent.objects.get().adjudication == made
    assert "quokka" not in text(late, reverse("precedents"))


def test_a_decision_on_an_earlier_round_is_told_as_one_before(erin: Client, split: Study) -> None:
    store_decision(
        factories.ada(), pair(split), condition(split), AdjudicationDecision(1, "slip", "so it was"), 0
    )
    assert "<strong>Current</strong>" in text(erin, where(split))
    pair(split).quotas.update(round=2, opened_at=timezone.now(), reserved=0, done=0)
    shown = text(erin, where(split))
    assert "so it was" in shown and "<strong>Current</strong>" not in shown


def test_votes_are_closed_to_who_still_rates_the_pair_in_another_study(split: Study) -> None:
    first, second = (split.pairs.get(number=number).pair for number in (1, 2))
    split.pairs.filter(number=1).update(other=second)
    of_first, of_second = studies.study("another", pairs=[first]), studies.study("a third", pairs=[second])
    for other, name in ((of_first, "late"), (of_second, "later")):
        theirs = Client()
        theirs.force_login(User.objects.get(pk=studies.rater(name, other).user_id))
        assert f"still rate pairs of this study in “{other}”" in text(theirs, reverse("work"))
        for path in (reverse("adjudication-queue", args=[split.pk]), where(split)):
            assert theirs.get(path).status_code == 403
        assert theirs.get(f"/api/studies/{split.pk}/decisions").status_code == 403
        assert not Seen.objects.filter(user__username=name).exists()
        Enrolment.objects.filter(study=other).update(finished_at=timezone.now())
        assert theirs.get(reverse("adjudication-queue", args=[split.pk])).status_code == 200


def test_precedents_are_searched_by_any_text(erin: Client) -> None:
    assert "None like that" in text(erin, reverse("precedents") + "?q=%00&guidelines=%00")
