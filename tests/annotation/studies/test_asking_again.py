"""Another round after a change of meaning: which pairs, and what stays."""

from __future__ import annotations

import pytest

from annotation.models import Amendment, Assignment, AuditEvent, Quota, Rating, Study
from annotation.studies import guiding, planning
from annotation.studies.asking_again import Choice, ask_again, chosen, follow
from annotation.studies.planning import StudyRefused
from tests import factories, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Two rated pairs, on the first of which raters part; the third pair is not rated."""
    study = studies.study()
    ruth, sam = studies.rater("ruth", study), studies.rater("sam", study)
    studies.rated(ruth, 1, study.pairs.get(number=1), tags=["inverse"], notes="Sorted the wrong way")
    studies.rated(sam, 0, study.pairs.get(number=1))
    studies.rated(ruth, 1, study.pairs.get(number=2))
    return study


@pytest.mark.parametrize(
    ("choice", "numbers"),
    [
        (Choice(), []),
        (Choice(every=True), [1, 2]),
        (Choice(tag="inverse"), [1]),
        (Choice(tag="partial"), []),
        (Choice(text="wrong WAY"), [1]),
        (Choice(text="iso date"), [2]),
        (Choice(slice="split"), [1]),
        (Choice(tag="inverse", text="iso date"), []),
    ],
)
def test_pairs_are_chosen(study: Study, choice: Choice, numbers: list[int]) -> None:
    assert list(chosen(study, choice).values_list("number", flat=True)) == numbers


def test_strata_are_slices(study: Study) -> None:
    study.pairs.filter(number=2).update(stratum="match")
    assert [pair.number for pair in chosen(study, Choice(slice="match"))] == [2]


def test_another_round_keeps_what_was_said(study: Study) -> None:
    still = studies.assignment(studies.rater("tess", study), study.pairs.get(number=1))
    assert ask_again(study, Choice(slice="split"), "stricter now", factories.ada()) == 1
    quota = Quota.objects.get(study_pair__number=1)
    assert (quota.round, quota.wanted, quota.reserved, quota.done) == (2, 3, 0, 0)
    assert Quota.objects.get(study_pair__number=2).round == 1
    assert Rating.objects.current().count() == 3
    still.refresh_from_db()
    assert still.state == Assignment.State.LAPSED
    assert AuditEvent.objects.get(verb="pairs asked again").detail["pairs"] == 1


def test_what_is_refused(study: Study) -> None:
    with pytest.raises(StudyRefused, match="No rated pair"):
        ask_again(study, Choice(tag="none"), "why", factories.ada())
    with pytest.raises(StudyRefused, match="Say why"):
        ask_again(study, Choice(every=True), " ", factories.ada())
    Study.objects.update(state=Study.State.CLOSED)
    study.refresh_from_db()
    with pytest.raises(StudyRefused, match="runs"):
        ask_again(study, Choice(every=True), "why", factories.ada())


def test_a_study_follows_another_version_as_an_amendment(study: Study) -> None:
    planning.freeze(study)
    guiding.acknowledge(study, factories.person("ruth"))
    second = studies.guideline(version=2, change="meaning", text="Stricter.")
    follow(study, second, "the old rules were vague", factories.ada())
    assert study.guideline == second
    assert not guiding.acknowledged(study, factories.person("ruth"))
    assert Amendment.objects.get().after["guidelines"]["version"] == 2
