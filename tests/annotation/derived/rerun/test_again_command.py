"""`manage.py again`: which cases, what they will take, and the other build."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from annotation.llm.sampling import LONGER
from annotation.models import Build, Rerun
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def old() -> Build:
    """Nine cases: one settled by the screener, one after a test, one abandoned."""
    build = factories.opened("old")
    cases = factories.cases(build)
    factories.settled(cases[0], 1)
    factories.examined(cases[1], 0)
    factories.abandoned(cases[2])
    return build


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    call_command("again", *words)
    return capsys.readouterr().out


def test_the_estimate_says_which_cases_and_makes_nothing(
    old: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    said = told(capsys, "old", "--from", "arbitrating", "--estimate")
    assert said.startswith("all cases: 1 of 9 cases from arbitrating on: ")
    assert Build.objects.count() == 1


def test_the_cases_are_chosen_by_the_words_of_their_list(
    old: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    said = told(capsys, "old", "--from", "screening", "--where", "stage=settled&label=0", "--estimate")
    assert said.startswith("stage “settled”, agents’ label “no match”: 1 of 1 cases")
    ids = [str(case.pk) for case in factories.cases(old)[:2]]
    assert "picked by hand: 2 of 2" in told(
        capsys, "old", "--from", "screening", "--cases", *ids, "--estimate"
    )
    other = factories.opened("other")
    factories.settled(factories.cases(other)[0], 0)
    flips = told(capsys, "old", "--from", "screening", "--flips", "other", "--estimate")
    assert "labelled differently in “other”: 1 of 1" in flips


def test_what_differs_is_of_the_new_build_alone(old: Build, capsys: pytest.CaptureFixture[str]) -> None:
    said = told(
        capsys,
        *("old", "--from", "writing_test", "--as", "new", "--reason", "a better model"),
        *("--model", "better", "--second-test", "--fix-rounds", "1", "--budget", "2.5"),
    )
    build = Build.objects.get(name="new")
    assert f"launched build {build.pk}: new" in said
    assert (build.model, build.tally.cap) == ("better", 2_500_000_000)
    assert (build.annotator.config["second_test"], build.annotator.config["fix_rounds"]) == (True, 1)
    rerun = Rerun.objects.get(build=build)
    assert (rerun.of, rerun.stage, rerun.reason, rerun.description) == (
        old,
        "writing_test",
        "a better model",
        "all cases",
    )


def test_cases_whose_replies_were_cut_off_run_again_with_longer_ones(
    old: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("old", "--from", "screening", "--where", "stage=abandoned", "--reason", "cut off")
    told(capsys, *words, "--sampling", LONGER)
    made = Build.objects.get(name="old again")
    assert made.annotator.config["sampling"] == {"max_tokens": 16384}
    with pytest.raises(CommandError, match="1 to 200,000"):
        told(capsys, *words, "--as", "other", "--sampling", '{"max_tokens": 0}')


def test_without_a_name_it_gets_one_that_is_free(old: Build) -> None:
    for _ in range(2):
        call_command("again", "old", "--from", "screening", "--reason", "to see")
    assert set(Build.objects.values_list("name", flat=True)) == {"old", "old again", "old again 2"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("nowhere", "--from", "screening"), "no build called 'nowhere'"),
        (("old", "--from", "screening"), "Say why"),
        (("old", "--from", "screening", "--reason", "so", "--as", "old"), "called 'old' already"),
        (("old", "--from", "screening", "--reason", "so", "--where", "stge=settled"), "stge=settled"),
        (("old", "--from", "screening", "--reason", "so", "--where", "stage=done"), "stage=done"),
        (("old", "--from", "screening", "--reason", "so", "--flips", "none"), "no build called 'none'"),
        (("old", "--from", "screening", "--reason", "so", "--budget", "much"), "expected dollars"),
        (
            ("old", "--from", "arbitrating", "--reason", "so", "--where", "stage=abandoned"),
            "got as far as arbitrating",
        ),
    ],
)
def test_what_can_not_be_meant_is_refused(words: tuple[str, ...], why: str, old: Build) -> None:
    with pytest.raises(CommandError, match=why):
        call_command("again", *words)
    assert Build.objects.count() == 1
