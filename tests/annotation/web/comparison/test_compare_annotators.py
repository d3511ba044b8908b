"""Two annotators side by side: whom the page is for, what it says, where it leads."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags
from pytest_django import DjangoAssertNumQueries

from annotation.builds.pipeline import labels
from annotation.models import Build, Case, Review, Seen
from retrieval.models import Annotator, Label
from tests import factories, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    made = factories.opened("first <b>")
    for case, label in zip(factories.cases(made), (1, 1, 0), strict=False):
        factories.settled(case, label)
    return made


@pytest.fixture
def second(build: Build) -> Build:
    made = factories.opened("second", annotator=factories.annotator(model="<i>other</i>"))
    for case, label in zip(factories.cases(made), (1, 0, 0), strict=False):
        factories.settled(case, label)
    return made


@pytest.fixture
def original(build: Build) -> Annotator:
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "<u>data</u>", {})
    for case, value in zip(factories.cases(build), (0, 1), strict=False):
        Label.objects.create(pair=case.pair, annotator=by, value=value)
    return by


def page(client: Client, first: object, second: object, status: int = 200, **more: str) -> str:
    asked = {"of": "annotators", "first": str(first), "second": str(second), **more}
    answer = client.get(reverse("compare"), asked)
    assert answer.status_code == status
    return answer.content.decode()


def test_flips_are_counted_and_lead_to_their_cases(ray: Client, build: Build, original: Annotator) -> None:
    text = page(ray, build.annotator_id, original.pk)
    flipped = factories.cases(build)[0]

    assert "in 1 query of 1" in text and "Cohen’s κ" in text
    assert "With fewer than 30 queries they are too short." in text
    assert reverse("case", args=[flipped.pk]) in text
    assert Seen.objects.filter(user=factories.ray(), pair=flipped.pair_id).exists()
    assert "What their builds took" in text


def test_builds_of_both_lead_to_their_comparison_and_experts_to_the_flips(
    ray: Client, erin: Client, build: Build, second: Build
) -> None:
    compared = f"{reverse('compare')}?first={build.pk}&amp;second={second.pk}"
    review = f"{reverse('review-next', args=[second.pk])}?show=flipped-{build.pk}"
    reader, expert = (page(one, build.annotator_id, second.annotator_id) for one in (ray, erin))

    assert compared in reader and compared in expert
    assert review not in reader and review in expert


@pytest.fixture
def merge(build: Build) -> Annotator:
    """A merge that parts from the original data on two pairs of the build."""
    by = Annotator.objects.version(Annotator.Kind.MERGE, "a merge", {})
    pairs = [case.pair for case in factories.cases(build)]
    for pair, value in zip(pairs, (1, 0), strict=False):
        Label.objects.create(pair=pair, annotator=by, value=value)
    return by


def listed(first: Annotator, second: Annotator) -> str:
    return f"apart-{first.pk}.0-{second.pk}.0"


def test_flips_of_annotators_without_a_build_are_sent_to_review_where_a_build_has_their_cases(
    ray: Client, erin: Client, build: Build, original: Annotator, merge: Annotator
) -> None:
    flipped = factories.cases(build)[:2]
    address = f"{reverse('review-next', args=[build.pk])}?show={listed(original, merge)}"
    reader, expert = (page(one, original.pk, merge.pk) for one in (ray, erin))
    assert "Flips that it has" in reader and address not in reader
    assert address in expert

    wanted = {"show": listed(original, merge)}
    there = erin.get(address)
    assert there["Location"] == f"{reverse('review-case', args=[flipped[0].pk])}?{urlencode(wanted)}"
    after = erin.get(reverse("review-next", args=[build.pk]), wanted | {"after": str(flipped[0].pk)})
    assert reverse("review-case", args=[flipped[1].pk]) in after["Location"]
    before = erin.get(reverse("review-next", args=[build.pk]), wanted | {"before": str(flipped[1].pk)})
    assert reverse("review-case", args=[flipped[0].pk]) in before["Location"]


def test_a_reviewed_flip_drops_out_and_the_end_has_its_page(
    erin: Client, build: Build, original: Annotator, merge: Annotator
) -> None:
    for case in factories.cases(build)[:2]:
        Review.objects.create(pair=case.pair, case=case, rater=factories.erin(), label=1, revision=1)
    asked = {"show": listed(original, merge)}
    told = erin.get(reverse("review-next", args=[build.pk]), asked).content.decode()
    assert "two annotators disagree, not labelled by you" in told


def test_review_shows_a_flip_as_it_shows_any_pair(
    erin: Client, build: Build, original: Annotator, merge: Annotator
) -> None:
    address = reverse("review-case", args=[factories.cases(build)[0].pk])
    text = erin.get(address, {"show": listed(original, merge)}).content.decode()
    for name in ("data", "a merge"):
        assert name not in strip_tags(text.partition("<main")[2])


def test_flips_without_a_case_are_told(ray: Client, original: Annotator, merge: Annotator) -> None:
    Case.objects.all().delete()
    text = page(ray, original.pk, merge.pk)
    assert "2 flips have no pair in a build that you may see" in " ".join(text.split())
    assert "Flips that it has" not in text


def test_a_flip_counts_once_however_many_builds_have_it(
    erin: Client, build: Build, second: Build, original: Annotator, merge: Annotator
) -> None:
    text = page(erin, original.pk, merge.pk)
    for one in (build, second):
        assert f"{reverse('review-next', args=[one.pk])}?show={listed(original, merge)}" in text
    assert "no case in a build" not in text


def test_who_rates_blind_gets_no_list_of_flips_in_any_build(
    client: Client, build: Build, original: Annotator, merge: Annotator
) -> None:
    other = factories.opened("other", annotator=factories.annotator(model="other"))
    Case.objects.filter(build=other, pair=factories.cases(build)[0].pair).delete()
    study = studies.study(pairs=[factories.cases(build)[0].pair])
    Case.objects.filter(build=build).exclude(pair=factories.cases(build)[0].pair).delete()
    rater = studies.rater("rita", study)
    client.force_login(rater.user)
    address = reverse("review-next", args=[other.pk])
    assert "apart" not in client.get(address, {"show": listed(original, merge)}).get("Location", "")
    closed = client.get(reverse("review-next", args=[build.pk]), {"show": listed(original, merge)})
    assert closed.status_code in {403, 404}


@pytest.mark.parametrize("name", ["apart-1.0", "apart-x.0-2.0", "apart-1.0-2.0-3.0", "apart-" + "9" * 30])
def test_what_names_no_two_annotators_is_the_usual_list(erin: Client, build: Build, name: str) -> None:
    there = erin.get(reverse("review-next", args=[build.pk]), {"show": name})
    assert there.status_code == 302 and "show" not in there["Location"]


def test_annotators_that_are_gone_have_no_flips(erin: Client, build: Build, original: Annotator) -> None:
    asked = {"show": f"apart-{original.pk}.0-999999.0"}
    assert erin.get(reverse("review-next", args=[build.pk]), asked).status_code == 200


def test_the_comparison_of_builds_leads_to_that_of_their_annotators(
    ray: Client, build: Build, second: Build
) -> None:
    asked = {"first": str(build.pk), "second": str(second.pk)}
    text = ray.get(reverse("compare"), asked).content.decode()
    wanted = f"?of=annotators&amp;first={build.annotator_id}&amp;second={second.annotator_id}"
    assert reverse("compare") + wanted in text


def test_the_address_of_before_leads_to_the_one_page_with_what_it_asked_for(ray: Client) -> None:
    answer = ray.get(reverse("compare-annotators"), {"first": "1", "second_round": "2"})
    assert answer["Location"] == "/browse/compare/?first=1&second_round=2&of=annotators"


def test_names_are_shown_as_text(ray: Client, second: Build, original: Annotator) -> None:
    text = page(ray, second.annotator_id, original.pk)
    assert "<u>" not in text and "<i>" not in text and "<b>" not in text
    assert "&lt;u&gt;data" in text and "&lt;i&gt;other" in text


def test_people_are_called_by_their_accounts(ray: Client, build: Build) -> None:
    by = labels.annotator_of_person(factories.erin())
    Label.objects.create(pair=factories.cases(build)[0].pair, annotator=by, value=0)
    assert "erin, person" in page(ray, build.annotator_id, by.pk)


def test_a_round_is_chosen_where_there_are_several(ray: Client, original: Annotator) -> None:
    said = Label.objects.filter(annotator=original).earliest("pk")
    Label.objects.create(pair=said.pair, annotator=original, round=2, value=1)
    text = page(ray, original.pk, original.pk, first_round="1", second_round="2")

    assert "round 1" in text and "round 2" in text and 'name="second_round"' in text
    assert "Choose two different annotators" in page(ray, original.pk, original.pk, status=422)


@pytest.mark.parametrize("wrong", ["", "x", "-1", "0", "9" * 30])
def test_an_annotator_that_is_not_there_leaves_the_choice_open(
    ray: Client, build: Build, original: Annotator, wrong: str
) -> None:
    assert "Choose two annotators" in page(ray, wrong, build.annotator_id)


def test_without_labels_there_is_nothing_to_compare(ray: Client) -> None:
    assert "Nothing to compare yet" in page(ray, "", "")


def test_who_rates_in_a_study_is_kept_from_all_labels(
    client: Client, build: Build, original: Annotator
) -> None:
    rater = studies.rater("rita", studies.study(pairs=[factories.cases(build)[0].pair]))
    client.force_login(rater.user)

    for first, second in ((str(build.annotator_id), str(original.pk)), ("", "")):
        text = page(client, first, second, status=403)
        assert "closed to you while you rate" in text and "data" not in text.partition("<main")[2]
    assert client.get("/api/annotators").status_code == 403
    asked = f"/api/annotators/{build.annotator_id}/comparison/{original.pk}"
    assert client.get(asked).status_code == 403


def test_the_page_costs_the_same_for_any_number_of_labels(
    ray: Client, build: Build, second: Build, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(32):
        page(ray, build.annotator_id, second.annotator_id)
    for made in (build, second):
        for case in factories.cases(made)[3:]:
            factories.settled(case, 1)
    with django_assert_num_queries(31):
        page(ray, build.annotator_id, second.annotator_id)


def test_the_tables_are_taken_home_and_count_as_seen(ray: Client, build: Build, original: Annotator) -> None:
    asked = {"of": "annotators", "first": str(build.annotator_id), "second": str(original.pk)}
    answer = ray.get(reverse("compare"), {**asked, "table": "agreement", "format": "csv"})
    assert "Cohen’s κ" in answer.content.decode()
    assert Seen.objects.filter(user=factories.ray()).exists()
    assert "table=took" in page(ray, build.annotator_id, original.pk)
