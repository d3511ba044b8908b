"""The home of experts and raters: a card for what waits, none for what does not."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.accounts.roles import Role
from annotation.models import Case, Enrolment, Filling, Review, Study
from tests import factories, filling, studies
from tests.annotation.models.reviews.test_contradictions import say
from tests.annotation.studies.adjudication.test_decisions import raters, said, study
from tests.site import samples

__all__ = ["raters", "study"]  # fixtures
pytestmark = pytest.mark.django_db
HOME = "/work/"


def home(client: Client, where: str = HOME) -> str:
    answer = client.get(where)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


@pytest.fixture
def case() -> Case:
    """One of two pairs of a build that the agents judged."""
    cases = factories.cases(factories.opened("autumn"))
    factories.settled(cases[1], 1)
    return factories.settled(cases[0], 1)


def test_nothing_waits_where_nothing_is(erin: Client) -> None:
    page = home(erin)
    assert "Nothing waits for you" in page and reverse("browse") in page
    for word in ("Rate", "Review", "Decide", "Generated functions"):
        assert f"<h2>{word}</h2>" not in page


def test_pairs_to_check_lead_to_the_next_one(erin: Client, case: Case) -> None:
    page = home(erin)
    assert "<h2>Review</h2>" in page and "2 pairs to check" in page and "about 1" not in page
    assert reverse("review-guidelines", args=[case.build_id]) in page, "the rules are a click away"
    assert f'href="{reverse("review-next", args=[case.build_id])}"' in page and "Start<" in page


def test_the_persons_own_pace_says_how_long_it_takes(erin: Client, case: Case) -> None:
    """One pair of two is left, and the first one took 90 seconds."""
    say(factories.erin(), case, 1)
    Review.objects.update(seconds=90)
    page = home(erin)
    assert "1 pair to check" in page and "about 1 min 30 s" in page and "Continue<" in page


def test_a_rater_starts_in_the_study_and_sees_no_closed_build(client: Client) -> None:
    running = studies.study()
    rita = studies.rater("rita", running)
    client.force_login(rita.user)
    page = home(client)
    assert "<h2>Rate</h2>" in page and reverse("rate-next", args=[running.pk]) in page
    assert "<h2>Review</h2>" not in page, "its pairs are closed while they are rated blind"
    Enrolment.objects.update(accepted_at=None)
    page = home(client)
    assert reverse("rate-study", args=[running.pk]) in page and "Read and start" in page


def test_a_rater_whose_part_is_over_may_still_change_labels(client: Client, case: Case) -> None:
    """Your work opens nothing that would make them final; Browse does."""
    rita = studies.rater("rita", studies.study(pairs=[case.pair]), finished_at=timezone.now())
    client.force_login(rita.user)
    page = home(client)
    assert "you can still change your labels" in page and "Builds</abbr> to review" not in page
    assert Enrolment.objects.get().shown_at is None
    client.get(reverse("browse"))
    assert Enrolment.objects.get().shown_at is not None
    assert "Builds</abbr> to review" in home(client)


def test_the_navigation_says_what_is_hidden_from_who_rates(client: Client) -> None:
    running = studies.study()
    client.force_login(studies.rater("rita", running).user)
    nav = home(client).partition('<nav class="topnav"')[2].partition("</nav>")[0]
    assert nav.count("verdicts on your pairs are hidden while you are rating") == 2
    assert nav.count('class="is-held-back"') == 2
    Enrolment.objects.update(finished_at=timezone.now())
    assert "is-held-back" not in home(client)


def test_disagreements_wait_for_somebody_who_did_not_rate(
    erin: Client, study: Study, raters: list[Enrolment]
) -> None:
    said(study, raters, 1, 1, 0, 0)
    page = home(erin)
    assert "<h2>Decide</h2>" in page and "1 disagreement to decide" in page
    assert reverse("adjudication-queue", args=[study.pk]) in page


def test_written_functions_wait_to_be_accepted(erin: Client) -> None:
    job: Filling = filling.checked()
    page = home(erin)
    assert "<h2>Generated functions</h2>" in page and "3 to accept or reject" in page
    assert reverse("proposals-next", args=[job.pk]) in page


def test_each_role_begins_where_its_work_is(ada: Client, erin: Client, case: Case) -> None:
    for client, where in ((ada, "dashboard"), (erin, "work")):
        answer = client.get("/")
        assert (answer.status_code, answer["Location"]) == (302, reverse(where))
    assert "<h2>Review</h2>" in home(ada), "admins review, too"


def test_below_the_cards_is_all_that_a_person_takes_part_in(erin: Client, case: Case) -> None:
    """Also where nothing waits."""
    for other in Case.objects.filter(build=case.build):
        say(factories.erin(), other, 1)
    page = home(erin)
    assert "Nothing waits for you" in page and "Builds</abbr> to review" in page
    assert f"{reverse('review-next', args=[case.build_id])}?show=reviewed" in page


def test_reads_do_not_grow_with_the_number_of_builds(
    erin: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for name in "abcdef":
        factories.settled(factories.cases(factories.opened(name))[0], 1)
    factories.person("eve", Role.EXPERT)
    with django_assert_max_num_queries(20):
        home(erin)


def test_a_reader_starts_at_data_sets_and_leaderboards(ray: Client, case: Case) -> None:
    benchmark = samples.published(case)
    page = home(ray, "/")
    assert "<h2" in page and reverse("browse-build", args=[case.build_id]) in page
    assert "autumn" in page and "2 judged, 2 matches" in page
    assert reverse("benchmark", args=[benchmark.pk]) in page and "0 runs" in page
    for word in ("Pins", "Your work", "Keys"):
        assert f">{word}<" not in page


def test_a_readers_navigation_is_short(ray: Client) -> None:
    nav = home(ray, "/").partition('<nav class="topnav"')[2].partition("</nav>")[0]
    assert nav.count("<a ") == 5 and reverse("reports") in nav
