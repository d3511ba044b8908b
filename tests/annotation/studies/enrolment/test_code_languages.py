"""Raters choose programming languages: pairs of others are not given to them, and nobody waits for them."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Condition, Enrolment, Quota, Study
from annotation.studies.enrolment import extra_raters, queue, rater_studies
from annotation.studies.enrolment.rater_studies import BadProfile, Profile
from annotation.studies.enrolment.unfilled_places import find_unfillable_quotas
from tests import studies

pytestmark = pytest.mark.django_db
PYTHON, GO, BOTH = ("Python",), ("Go",), ("Go", "Python")


def of_languages(*names: str, raters: int = 1) -> Study:
    """A study whose pairs have these languages, in their order."""
    study = studies.study(conditions=(Condition.Kind.READING,), raters=raters)
    for pair, name in zip(study.pairs.order_by("number"), names, strict=True):
        study.pairs.filter(pk=pair.pk).update(language=name)
    return study


def choose(rater: Enrolment, *names: str) -> None:
    rater_studies.accept_study_information(rater, Profile(code_languages=names))


def given(rater: Enrolment) -> set[int]:
    """The numbers of all pairs that the rater is given, skipped one after the other."""
    numbers = set[int]()
    while (found := queue.next_assignment(rater)) is not None:
        numbers.add(found.study_pair.number)
        queue.skip_assignment(found, found.token, "it was enough to see it")
    return numbers


@pytest.mark.parametrize(("chosen", "numbers"), [(PYTHON, {1, 3}), (GO, {2, 3}), (BOTH, {1, 2, 3})])
def test_a_rater_is_given_pairs_of_chosen_languages_and_of_unknown_ones(
    chosen: tuple[str, ...], numbers: set[int]
) -> None:
    rita = studies.rater("rita", of_languages("Python", "Go", ""))
    choose(rita, *chosen)
    assert rater_studies.work_of(rita).left == len(numbers)
    assert given(rita) == numbers


def test_who_chooses_nothing_is_given_all() -> None:
    rita = studies.rater("rita", of_languages("Python", "Go", "Java"))
    rater_studies.accept_study_information(rita, Profile())
    assert given(rita) == {1, 2, 3}


def test_a_rater_without_pairs_of_the_languages_is_finished_and_goes_on_with_another_choice() -> None:
    study = of_languages("Go", "Go", "Python")
    rita, rolf = studies.rater("rita", study), studies.rater("rolf", study)
    choose(rita, "Python")
    assert given(rita) == {3}
    rita.refresh_from_db()
    assert rita.finished_at is not None
    choose(rita, "Go")
    rita.refresh_from_db()
    assert rita.finished_at is None and given(rita) == {1, 2}
    assert given(rolf) == {1, 2, 3}


def test_planted_pairs_follow_the_choice() -> None:
    study = of_languages("Python", "Go", "Python")
    study.pairs.filter(number=2).update(planted="onboarding", answer=1)
    rita = studies.rater("rita", study)
    choose(rita, "Python")
    assert given(rita) == {1, 3}


def test_places_that_no_rater_takes_by_language_are_told() -> None:
    study = of_languages("Python", "Go", "Python")
    rita = studies.rater("rita", study)
    assert find_unfillable_quotas(study) == []
    choose(rita, "Python")
    [beyond] = find_unfillable_quotas(study)
    assert (beyond.quota.study_pair.number, beyond.places) == (2, 1)


def test_one_more_rating_is_asked_of_those_alone_who_take_the_language() -> None:
    study = of_languages("Python", "Go", "Python", raters=2)
    study.one_more = True
    study.save()
    names = ("rita", "rolf", "ruth", "rosa")
    rita, rolf, ruth, rosa = (studies.rater(name, study) for name in names)
    choose(ruth, "Python")
    choose(rosa, "Go")
    pair = study.pairs.get(number=2)
    for rater, value in ((rita, 1), (rolf, 0)):
        studies.rated(rater, value, pair)
    quota = Quota.objects.get(study_pair=pair)
    assert set(extra_raters.find_eligible_raters(quota)) == {rosa}


def test_there_is_no_choice_of_one_language_or_of_what_the_study_lacks() -> None:
    one = of_languages("Python", "Python", "")
    assert rater_studies.list_code_languages(one) == ()
    rita = studies.rater("rita", one)
    with pytest.raises(BadProfile, match="no choice of Go in this study"):
        choose(rita, "Go")
    Study.objects.update(name="another")
    two = of_languages("Python", "Go", "")
    assert rater_studies.list_code_languages(two) == BOTH
    with pytest.raises(BadProfile, match="Choose at least one language"):
        choose(studies.rater("rolf", two))


def test_the_page_and_the_api_offer_the_choice(client: Client) -> None:
    study = of_languages("Python", "Go", "Python")
    rita = studies.rater("rita", study, accepted_at=None)
    client.force_login(rita.user)
    html = client.get(f"/rate/{study.pk}/").content.decode()
    assert html.count('name="code_languages"') == 2 and html.count("checked") >= 2
    refused = client.post(f"/rate/{study.pk}/", {"offers_languages": "1", "guideline": study.guideline_id})
    assert refused.status_code == 422 and "Choose at least one language." in refused.content.decode()
    sent = {"offers_languages": "1", "code_languages": ["Go"], "guideline": study.guideline_id}
    client.post(f"/rate/{study.pk}/", sent)
    told = client.get(f"/api/rate/{study.pk}").json()
    assert (told["code_languages"], told["chosen_code_languages"]) == (["Go", "Python"], ["Go"])
    assert client.get("/api/rate").json()["items"][0]["left"] == 1
