"""What reviewers of a build read: the published rule, or the version that an admin chose with a reason."""

from __future__ import annotations

import pytest

from annotation import prompts
from annotation.builds.control.spending_caps import CapRefused
from annotation.models import Build
from annotation.review.guidelines import set_guideline, text_of_build
from tests import factories, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    return factories.opened()


def test_text_of_build_without_its_own_is_the_rule_that_agents_follow(build: Build) -> None:
    assert prompts.load_match_criterion() in text_of_build(build)


def test_set_guideline_keeps_who_changed_what_and_why(build: Build) -> None:
    chosen = studies.guideline()
    assert set_guideline(build, chosen, factories.ada(), "stricter")
    build = Build.objects.get()
    assert text_of_build(build) == chosen.text
    event = build.events.get(event="guidelines changed")
    assert (event.user, event.note) == (factories.ada(), f"reviewers read {chosen}: stricter")


def test_set_guideline_again_changes_and_records_nothing(build: Build) -> None:
    chosen = studies.guideline()
    set_guideline(build, chosen, factories.ada(), "stricter")
    assert not set_guideline(build, chosen, factories.ada(), "once more")
    assert build.events.filter(event="guidelines changed").count() == 1


def test_set_guideline_without_a_reason_is_refused(build: Build) -> None:
    with pytest.raises(CapRefused):
        set_guideline(build, studies.guideline(), factories.ada(), " ")
    assert Build.objects.get().guideline is None
