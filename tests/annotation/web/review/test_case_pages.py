"""The review page of one case: what is on it, for whom, and at what price."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation import review
from annotation.accounts.roles import Role
from annotation.models import Case, Draft, Seen
from annotation.review import drafts
from annotation.review.evidence_hash import evidence_hash
from annotation.web.cases.evidence import steps_of
from retrieval.models import Text
from sandbox.reports.report import Outcome
from tests import factories

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
HOSTILE = '"><script>alert(1)</script>\u202e'


@pytest.fixture
def case() -> Case:
    """A case settled as no match after a failed test."""
    report = factories.a_report(Outcome.FAILED)
    return factories.examined(factories.cases(factories.opened())[0], 0, report)


def url(case: Case) -> str:
    return reverse("review-case", args=[case.pk])


def text(client: Client, case: Case, **headers: str) -> str:
    answer = client.get(url(case), headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def spoken(html: str, part: str) -> list[str]:
    """What is read of each paragraph of the class, without its elements."""
    found = re.findall(rf'<p class="{part}">(.*?)</p>', html, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", "", text).split()).replace(" ,", ",") for text in found]


def test_short_facts_are_read_with_pauses(erin: Client, case: Case) -> None:
    page = text(erin, case)
    (head,) = spoken(page, "case-meta")
    assert head == f"{case.build.name}, rank 1, 0 of 9 reviewed, 3 left for this query"
    steps = [line for line in spoken(page, "verdict-meta") if line.startswith("step ")]
    assert steps and all(re.match(r"step \d+, [a-z ]+, ", line) and not line.endswith(",") for line in steps)


TALL = "def tall(x):\n" + "".join(f"    x = x + {line}\n" for line in range(20_000)) + "    return x"


def test_of_a_long_candidate_the_whole_text_is_a_link_away(erin: Client, case: Case) -> None:
    whole = reverse("case-candidate", args=[case.pk])
    assert whole not in text(erin, case)
    case.pair.snippet = Text.objects.keep(TALL)
    case.pair.save()
    page = text(erin, case)
    # 1,500 of 20,002 lines are shown.
    assert f'18,502 more lines not shown. <a href="{whole}">Whole text</a>' in page
    assert "<summary>Not checked</summary>" in page
    assert "Not Python 3" not in page
    answer = erin.get(whole)
    assert (answer.content.decode(), answer["Content-Type"]) == (TALL, "text/plain; charset=utf-8")


def test_a_candidate_for_a_newer_python_is_headed_so(erin: Client, case: Case) -> None:
    case.pair.snippet = Text.objects.keep("def f[T](x: T) -> T:\n    return x")
    case.pair.save()
    assert "<summary>Python 3.12 or newer</summary>" in text(erin, case)


def test_of_a_candidate_with_a_cut_line_too(erin: Client, case: Case) -> None:
    case.pair.snippet = Text.objects.keep(f"x = '{'y' * 2_000}'")
    case.pair.save()
    assert f'<a href="{reverse("case-candidate", args=[case.pk])}">Whole text</a>' in text(erin, case)


def test_everything_is_on_one_page(erin: Client, case: Case) -> None:
    page = text(erin, case)

    for part in (
        "reverse a list in place",
        "Function",
        "Agents",
        "the test decides",
        "Test program",
        "Trace",
    ):
        assert part in page
    assert ">assisted</abbr> labels</span>" in page
    assert "0 of 9 reviewed, 3 left for this query" in page
    assert 'href="#t-2"' in page
    assert 'id="t-2"' in page
    assert 'href="#c-3"' in page
    assert 'id="c-3"' in page


@pytest.mark.parametrize(("browser", "status"), [("ada", 200), ("erin", 200), ("ray", 403), ("nora", 403)])
def test_only_experts_and_admins_review(
    request: pytest.FixtureRequest, case: Case, browser: str, status: int
) -> None:
    client: Client = request.getfixturevalue(browser)

    assert client.get(url(case)).status_code == status
    assert client.get(url(case), headers=HTMX).status_code == status


def test_visitors_log_in_first(client: Client, case: Case) -> None:
    assert client.get(url(case)).status_code == 302


def test_a_fragment_holds_the_case_and_names_its_address(erin: Client, case: Case) -> None:
    answer = erin.get(url(case), headers=HTMX)
    page = answer.content.decode()

    assert "<html" not in page
    assert 'id="case"' in page
    assert answer["HX-Push-Url"] == url(case)
    assert "HX-Request" in answer["Vary"]


def test_going_back_in_the_browser_gets_the_whole_page(erin: Client, case: Case) -> None:
    assert "<html" in text(erin, case, **HTMX, **{"HX-History-Restore-Request": "true"})


def test_having_seen_the_evidence_is_noted(erin: Client, case: Case) -> None:
    text(erin, case)

    assert Seen.objects.filter(user__username="erin", pair=case.pair_id).count() == 1


def test_every_key_is_a_real_form_or_link(erin: Client, case: Case) -> None:
    review.store_label(factories.erin(), case, 0, "", "e" * 64, 0)
    page = text(erin, case)

    for key in "102npze?,.d789":
        assert f'data-key="{key}" aria-keyshortcuts="{key}"' in page
    for key in "rtgihbsqlxwmov":
        assert f'data-key="; {key}" data-key-kind="led"' in page
    for action in ("label", "undo", "run"):
        assert f'action="{reverse(f"review-{action}", args=[case.pk])}"' in page


def test_no_letter_stores_a_label(erin: Client, case: Case) -> None:
    labels = re.findall(r'data-key="([^"]+)"[^>]* data-key-kind="label"', text(erin, case))

    assert sorted(labels) == ["0", "1", "2"]


def test_the_list_of_keys_has_its_parts_and_its_button_first(erin: Client, case: Case) -> None:
    page = text(erin, case)
    sheet = page[page.index('<dialog id="keys-dialog"') : page.index("</dialog>")]

    assert re.findall(r"<h3>(.+?)</h3>", sheet) == [
        "Label",
        "Move",
        "Test and trace",
        "Tags",
        "While you type",
    ]
    assert sheet.index("Close") < sheet.index("<h3>")
    assert '<dt>Unsure: no label</dt><dd><kbd class="kbd">2</kbd>' in sheet
    assert '<kbd class="kbd">; r</kbd>' in sheet


def test_switched_off_no_key_is_on_the_page(erin: Client, case: Case) -> None:
    erin.post(reverse("review-keys"), {"action": "off"})

    assert "data-key=" not in text(erin, case)


def test_the_history_shows_both_experts_and_the_agents(erin: Client, case: Case) -> None:
    eve = factories.person("eve", Role.EXPERT)
    review.store_label(eve, case, 1, "right for empty lists too", "e" * 64, 0)
    review.store_label(factories.erin(), case, 0, "", "e" * 64, 0)
    page = text(erin, case)

    assert "<strong>eve</strong>: match" in page
    assert "right for empty lists too" in page
    assert ">overrides</abbr> the agents" in page
    assert "<strong>You</strong>: no match" in page
    assert "Arbiter</abbr>: no match" in page


def test_a_label_beside_other_evidence_is_stale(erin: Client, case: Case) -> None:
    review.store_label(factories.erin(), case, 0, "", "e" * 64, 0)

    assert ">stale<" in text(erin, case)


def test_what_was_typed_is_there_after_a_reload(erin: Client, case: Case) -> None:
    drafts.save_draft(factories.erin(), case.pair_id, Draft.Field.REASON, "half a sent")
    drafts.save_draft(factories.erin(), case.pair_id, Draft.Field.TEST, "assert reverse([]) == []")
    page = text(erin, case)

    assert ">half a sent</textarea>" in page
    assert "Continue editing" in page


def test_hostile_text_stays_text(erin: Client) -> None:
    factories.queries([f"query {HOSTILE}"])
    factories.snippets([f"def f(a):\n    return '{HOSTILE}'\n", "def g(a):\n    return a\n"])
    case = factories.cases(factories.opened())[0]
    report = factories.a_report(stdout=HOSTILE, detail=HOSTILE)
    case = factories.examined(case, 1, report, source=f"# {HOSTILE}\n")
    eve = factories.person("eve", Role.EXPERT)
    review.store_label(eve, case, 0, HOSTILE, "e" * 64, 0)
    drafts.save_draft(factories.erin(), case.pair_id, Draft.Field.REASON, HOSTILE + "</textarea>")
    page = text(erin, case)

    assert "<script>alert" not in page
    assert page.count("</textarea>") == 2
    assert "⟨U+202E⟩" in page


def test_nothing_in_a_title_is_unseen(erin: Client) -> None:
    factories.queries([f"query {HOSTILE}"])
    case = factories.settled(factories.cases(factories.opened())[0], 1)
    review.store_label(factories.erin(), case, 1, "", "e" * 64, 0)
    for page in (text(erin, case), text(erin, case, **HTMX)):
        title = page.split("<title>")[1].split("</title>")[0]
        undo = page.split('Undo <span class="undo-what">')[0].rsplit('title="', 1)[1]
        assert all("⟨U+202E⟩" in said and "\u202e" not in said for said in (title, undo))


@pytest.mark.parametrize("kind", ["open", "abandoned"])
def test_cases_without_a_verdict_can_be_reviewed(erin: Client, kind: str) -> None:
    case = factories.cases(factories.opened())[0]
    if kind == "abandoned":
        case = factories.abandoned(case)
    page = text(erin, case)

    assert 'value="1"' in page
    assert "No test was run." in page
    assert "Write a test" in page


def test_a_pair_without_a_test_has_no_empty_panes(erin: Client) -> None:
    case = factories.settled(factories.cases(factories.opened())[0], 1)
    page = text(erin, case)

    assert "Decided by reading; no test was run." in page
    assert "Write a test" in page
    assert 'id="panel-trace"' not in page
    assert "Run again" not in page
    assert "Nothing was executed" not in page


def test_what_a_step_cost_is_in_the_details(erin: Client, case: Case) -> None:
    page = text(erin, case)
    card = page.split('id="verdict"', 1)[1].split('<p class="your-label" id="your-label">', 1)[0]
    shown, details = card.split("<summary>Details</summary>")

    assert "by the <abbr" in shown and ">arbiter</abbr>" in shown
    assert "step " not in shown
    assert "step " in details
    assert "Your label: <span" in page


def test_ones_own_label_is_in_the_card(erin: Client, case: Case) -> None:
    review.store_label(factories.erin(), case, 0, "", "e" * 64, 0)
    mine = text(erin, case).split('<p class="your-label" id="your-label">', 1)[1].split("</p>", 1)[0]

    assert "no match" in mine
    assert "none yet" not in mine


def test_an_assertion_that_failed_is_seen_before_anything_is_unfolded(erin: Client, case: Case) -> None:
    page = text(erin, case)
    outcome = page.split('<div class="test-outcome">', 1)[1]

    assert outcome.index('class="assertion is-bad"') < outcome.index('<details class="assertions-fold"')


def test_tags_are_folded_until_they_explain_something(erin: Client, case: Case) -> None:
    assert '<details class="tags-fold">' in text(erin, case)
    sent = {"label": "1", "evidence": evidence_hash(case, steps_of(case)), "seen_revision": 0}
    refused = erin.post(reverse("review-label", args=[case.pk]), sent, headers=HTMX).content.decode()
    assert '<details class="tags-fold" open>' in refused


def test_the_number_of_tags_is_told_while_they_are_folded(erin: Client, case: Case) -> None:
    drafts.save_draft(factories.erin(), case.pair_id, Draft.Field.TAGS, "unsafe inverse")

    assert '<span class="tags-count" data-counts-tags>2</span>' in text(erin, case)


def test_a_page_costs_few_queries_however_much_happened(
    erin: Client, case: Case, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    text(erin, case)
    user = factories.erin()
    for revision in range(6):
        review.store_label(user, case, revision % 2, "because", "e" * 64, revision)
    with django_assert_max_num_queries(22):
        text(erin, case)


def test_an_unknown_case_is_not_found(erin: Client) -> None:
    assert erin.get(reverse("review-case", args=[999])).status_code == 404


def test_the_last_ten_decisions_stand_in_a_list_that_leads_back(erin: Client) -> None:
    cases = [factories.settled(case, 1) for case in factories.cases(factories.opened(k=4))]
    for one in cases[:11]:
        review.store_label(factories.erin(), one, 1, "", "e" * 64, 0)
    page = text(erin, cases[0])

    listed = page.split('<ol class="decision-list"', 1)[1].split("</ol>", 1)[0]
    assert listed.count("<li>") == 10
    assert f'href="{url(cases[10])}"' in listed
    assert f'href="{url(cases[0])}"' not in listed


def test_the_draft_of_tags_comes_before_those_that_stand(erin: Client, case: Case) -> None:
    review.store_label(factories.erin(), case, 0, "", "e" * 64, 0, review.Beside(["inverse"]))
    assert 'value="inverse" checked' in text(erin, case)

    drafts.save_draft(factories.erin(), case.pair_id, Draft.Field.TAGS, "unsafe")
    page = text(erin, case)
    assert 'value="unsafe" checked' in page
    assert 'value="inverse" checked' not in page


def test_without_a_test_program_nothing_of_it_is_tagged(erin: Client) -> None:
    case = factories.settled(factories.cases(factories.opened())[0], 1)

    assert 'value="test_wrong_expectation"' not in text(erin, case)
