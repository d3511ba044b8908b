"""Two builds side by side: whom the page is for, what it says, what it says when there is nothing to say."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import Build
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def first() -> Build:
    build = factories.opened("first <b>")
    for case in factories.cases(build)[:4]:
        factories.settled(case, 1)
    return build


@pytest.fixture
def second(first: Build) -> Build:
    """Agrees on two pairs, flips one, abandons one."""
    build = factories.opened("second", annotator=factories.annotator(model="<i>other</i>"))
    cases = factories.cases(build)
    for case, label in zip(cases[:3], (1, 1, 0), strict=True):
        factories.settled(case, label)
    factories.abandoned(cases[3])
    return build


@pytest.fixture
def expert(client: Client) -> Client:
    client.force_login(factories.erin())
    return client


def page(client: Client, first: object, second: object, status: int = 200) -> str:
    answer = client.get(reverse("compare"), {"first": str(first), "second": str(second)})
    assert answer.status_code == status
    return answer.content.decode()


def test_flips_are_counted_and_lead_to_their_review(expert: Client, first: Build, second: Build) -> None:
    text = page(expert, first.pk, second.pk)

    assert "in 1 query of 1" in text
    assert f"{reverse('review-next', args=[second.pk])}?show=flipped-{first.pk}" in text
    assert "the screener" in text
    assert "With fewer than 30 queries they are too short." in text


def test_readers_see_the_figures_and_no_way_to_review(client: Client, first: Build, second: Build) -> None:
    client.force_login(factories.ray())

    assert "Review the flips" not in page(client, first.pk, second.pk)


def test_names_and_settings_are_shown_as_text(expert: Client, first: Build, second: Build) -> None:
    text = page(expert, first.pk, second.pk)

    assert "<b>" not in text and "<i>other" not in text
    assert "&lt;i&gt;other" in text


@pytest.mark.parametrize("wrong", ["", "x", "-1", "0", "9" * 30])
def test_a_build_that_is_not_there_leaves_the_choice_open(expert: Client, first: Build, wrong: str) -> None:
    assert "Choose two builds" in page(expert, wrong, first.pk) or "Nothing to compare" in page(
        expert, wrong, first.pk
    )


def test_a_build_is_not_compared_with_itself(expert: Client, first: Build, second: Build) -> None:
    assert "Choose two different builds." in page(expert, first.pk, first.pk, status=422)


def test_builds_without_common_pairs_say_so(expert: Client, first: Build) -> None:
    other = factories.opened(
        "elsewhere", k=0, queries=factories.queries(("draw a circle",), "other"), annotator=first.annotator
    )
    assert "No common pair" in page(expert, first.pk, other.pk)


def test_the_page_costs_the_same_for_any_number_of_cases(
    expert: Client, first: Build, second: Build, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(12):
        page(expert, first.pk, second.pk)


def test_the_flips_are_gone_through_one_after_the_other(expert: Client, first: Build, second: Build) -> None:
    flipped = factories.cases(second)[2]
    where = reverse("review-next", args=[second.pk])
    show = f"flipped-{first.pk}"

    there = expert.get(where, {"show": show})
    assert there["Location"] == f"{reverse('review-case', args=[flipped.pk])}?show={show}"
    assert "Labelled differently in first" in expert.get(there["Location"]).content.decode()

    sent = {"label": "1", "reason": "it does", "show": show}
    seen = expert.get(there["Location"]).context["page"]
    sent |= {"seen_revision": seen["seen_revision"], "evidence": seen["evidence"].hash}
    answer = expert.post(reverse("review-label", args=[flipped.pk]), sent)
    assert answer["Location"] == f"{where}?show={show}"
    assert "no pair is in the list" in expert.get(answer["Location"]).content.decode()


def test_a_list_against_a_build_that_is_not_there_is_that_of_the_waiting(
    expert: Client, second: Build
) -> None:
    there = expert.get(reverse("review-next", args=[second.pk]), {"show": "flipped-999999"})

    assert there["Location"] == reverse("review-case", args=[factories.cases(second)[0].pk])


def test_where_candidates_were_screened_together_the_effect_of_their_place_is_said(
    expert: Client, first: Build
) -> None:
    assert 'id="h-places"' not in page(expert, first.pk, factories.opened("alike").pk)
    together = factories.opened("together", annotator=factories.annotator(screener="query", seed=3))
    for case, label in zip(factories.cases(together)[:6], (1, 0, 0, 1, 0, 0), strict=True):
        factories.settled(case, label)

    text = page(expert, first.pk, together.pk)

    assert text.count("From the first place to the last, the share of matches changes by") == 1
    assert "With so few queries the intervals are too short." in text
    assert text.count(f"{reverse('build-corpus', args=[together.pk])}#h-places") == 1


def test_the_builds_own_page_says_the_effect_once_it_was_counted(client: Client) -> None:
    client.force_login(factories.ada())
    together = factories.opened("together", annotator=factories.annotator(screener="query", seed=3))
    for case in factories.cases(together)[:6]:
        factories.settled(case, 1)
    own, spread = (reverse(name, args=[together.pk]) for name in ("build", "build-corpus"))
    assert f"{spread}#h-places" in client.get(own).content.decode()
    assert "From the first place" not in client.get(own).content.decode()
    assert "no more than chance" in client.get(spread).content.decode()
    assert "From the first place to the last" in client.get(own).content.decode()


@pytest.fixture
def ada(client: Client) -> Client:
    client.force_login(factories.ada())
    return client


def links(client: Client, first: Build, second: Build) -> dict[str, str]:
    """The links to cases by what they say."""
    found = re.findall(
        r'<a href="([^"]*cases/[^"]*)" aria-label="([^"]*)"', page(client, first.pk, second.pk)
    )
    return {unescape(words).replace("\xa0", " "): unescape(address) for address, words in found}


def listed(client: Client, address: str) -> list[int]:
    """The cases on the page at the address."""
    text = client.get(address).content.decode()
    return sorted({int(pk) for pk in re.findall(r'name="case" value="(\d+)"', text)})


def test_every_number_of_both_leads_to_its_cases(ada: Client, first: Build, second: Build) -> None:
    cases = factories.cases(second)
    found = links(ada, first, second)

    assert listed(ada, found["2 pairs: match first, match second, see the cases"]) == [
        cases[0].pk,
        cases[1].pk,
    ]
    assert listed(ada, found["1 pair: match first, no match second, see the cases"]) == [cases[2].pk]
    assert listed(ada, found["1 pair: match first, unjudged second, see the cases"]) == [cases[3].pk]
    assert listed(ada, found["1 pair, match to no match: see the cases"]) == [cases[2].pk]
    assert len(listed(ada, found["5 pairs: unjudged first, unjudged second, see the cases"])) == 5


def test_flips_are_listed_by_what_decided_on_either_side(ada: Client, first: Build) -> None:
    tested = factories.opened("tested")
    for case in factories.cases(tested)[:2]:
        factories.examined(case, 0)
    (words,) = [one for one in links(ada, first, tested) if "to no match" in one]
    address = links(ada, first, tested)[words]
    assert len(listed(ada, address)) == 2
    assert listed(ada, address.replace("other_by=screener", "other_by=test")) == []
    assert "that first &lt;b&gt; called match by the screener" in ada.get(address).content.decode()


def test_who_may_not_list_cases_gets_no_link(expert: Client, first: Build, second: Build) -> None:
    assert not links(expert, first, second)


def take(client: Client, first: Build, second: Build, table: str, form: str) -> str:
    asked = {"first": str(first.pk), "second": str(second.pk), "table": table, "format": form}
    answer = client.get(reverse("compare"), asked)
    assert answer.status_code == 200
    assert answer["Content-Disposition"].endswith(f'-{table}.{form}"')
    return answer.content.decode()


def test_the_tables_are_taken_home_with_the_numbers_of_the_page(
    expert: Client, first: Build, second: Build
) -> None:
    """Of nine common pairs: two matches of both, one flip, one that the second could not judge."""
    assert take(expert, first, second, "labels", "csv").splitlines() == [
        "first <b> (first),second: match,second: no match,second: unjudged",
        "match,2,1,1",
        "no match,0,0,0",
        "unjudged,0,0,5",
    ]
    assert "Agreement,0.666" in take(expert, first, second, "agreement", "csv")  # 2 of 3
    assert take(expert, first, second, "agreement", "svg").startswith("<svg")
    assert "\\begin{tab" in take(expert, first, second, "flips", "tex")
    text = page(expert, first.pk, second.pk)
    assert f'href="?first={first.pk}&amp;second={second.pk}&amp;table=took&amp;format=json"' in text


@pytest.mark.parametrize("wrong", [{"table": "none", "format": "csv"}, {"table": "labels", "format": "exe"}])
def test_a_table_that_is_not_there_is_not_found(
    expert: Client, first: Build, second: Build, wrong: dict[str, str]
) -> None:
    asked = {"first": str(first.pk), "second": str(second.pk), **wrong}
    assert expert.get(reverse("compare"), asked).status_code == 404
