"""The form of a study by steps: what was typed stays, and a purpose fills the form in."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.forms import FileField
from django.test import Client
from django.urls import reverse

from annotation.models import Build, Guideline, Study
from annotation.schemas.studies.studies import StudyIn
from annotation.studies.plan.ready_guidelines import READY
from annotation.web.studies.form import FOLDED, PARTS, TITLES, StudyForm, part_of
from annotation.web.studies.starters import STARTERS
from tests import factories, studies
from tests.studies import posted

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened("zoo"), (1, 0, 1, 0, 1, 0, 1, 0, 1))


def shown_step(text: str) -> int:
    found = re.search(r'name="part" value="(\d)"', text)
    assert found is not None
    return int(found[1])


def test_a_new_form_begins_with_the_first_step_and_offers_purposes(ada: Client) -> None:
    text = ada.get(reverse("study-new")).content.decode()
    assert shown_step(text) == 1
    assert all(f"?starter={key}" in text for key in STARTERS)
    assert text.count('class="stack" hidden') == len(TITLES) - 1


def test_what_was_typed_stays_on_the_way_there_and_back(ada: Client, build: Build) -> None:
    typed = posted(build, name="By steps <b>", size=7, step="to-2", part=1)
    answer = ada.post(reverse("study-new"), typed)
    assert (answer.status_code, shown_step(answer.content.decode())) == (200, 2)
    back = ada.post(reverse("study-new"), typed | {"step": "to-1", "part": 2}).content.decode()
    assert shown_step(back) == 1
    assert 'value="By steps &lt;b&gt;"' in back and 'name="size" value="7"' in back
    assert not Study.objects.exists()


def test_the_next_step_waits_for_what_is_wrong_in_this_one_alone(ada: Client) -> None:
    answer = ada.post(reverse("study-new"), {"step": "to-2", "part": 1})
    assert (answer.status_code, shown_step(answer.content.decode())) == (422, 1)
    typed = {"name": "new", "kind": "rating", "purpose": "development", "scale": "binary"}
    answer = ada.post(reverse("study-new"), typed | {"step": "to-2", "part": 1})
    assert (answer.status_code, shown_step(answer.content.decode())) == (200, 2)
    assert "need another look" not in answer.content.decode()
    answer = ada.post(reverse("study-new"), typed | {"step": "to-1", "part": 2})
    assert (answer.status_code, shown_step(answer.content.decode())) == (200, 1)


@pytest.mark.parametrize(("step", "shown"), [("to-9", 4), ("to-0", 1), ("to-x", 1), ("to-", 1)])
def test_a_step_that_there_is_not_is_the_nearest(ada: Client, build: Build, step: str, shown: int) -> None:
    text = ada.post(reverse("study-new"), posted(build, step=step, part=2)).content.decode()
    assert shown_step(text) == shown


def test_saving_with_a_mistake_shows_the_step_that_has_it(ada: Client, build: Build) -> None:
    answer = ada.post(reverse("study-new"), posted(build, size=""))
    assert (answer.status_code, shown_step(answer.content.decode())) == (422, 2)
    answer = ada.post(reverse("study-new"), posted(build, raters_own_tests=2))
    assert shown_step(answer.content.decode()) == 3


@pytest.mark.parametrize("key", list(STARTERS))
def test_a_purpose_fills_in_what_the_form_takes(ada: Client, build: Build, key: str) -> None:
    form = ada.get(reverse("study-new"), {"starter": key, "build": str(build.pk)}).context["form"]
    for name, value in STARTERS[key].values.items():
        if name not in ("size", "per_query"):  # of the build that the link names
            assert form[name].value() == value, name
        choices = [choice for choice, _ in getattr(form.fields[name], "choices", ())]
        assert not choices or value in choices, name
    assert form["builds"].value() == [build.pk]


def test_an_unknown_purpose_leaves_the_form_as_it_is(ada: Client) -> None:
    assert ada.get(reverse("study-new"), {"starter": "<b>"}).context["form"].initial == {}


@pytest.mark.parametrize("key", list(READY))
def test_ready_guidelines_are_written_once_when_a_study_is_saved(ada: Client, build: Build, key: str) -> None:
    ada.post(reverse("study-new"), posted(build, step="preview", ready=key))
    assert not Guideline.objects.exists()
    for name in ("one", "two"):
        ada.post(reverse("study-new"), posted(build, name=name, ready=key))
    made = Guideline.objects.get()
    assert (made.name, made.version) == (READY[key].name, 1)
    assert [study.guideline for study in Study.objects.all()] == [made, made]


def test_guidelines_of_ones_own_come_before_ready_ones(ada: Client, build: Build) -> None:
    own = studies.guideline()
    ada.post(reverse("study-new"), posted(build, guideline=own.pk, ready="exact"))
    assert Study.objects.get().guideline == own


def test_every_field_is_of_one_step_and_folded_ones_are_of_the_form() -> None:
    form = StudyForm(user=factories.ada(), people=[])
    named = [name for names in PARTS.values() for name in names]
    assert len(named) == len(set(named))
    rest = form.fields.keys() - set(named)
    assert all(name.startswith(("with_", "raters_", "seconds_")) for name in rest)
    assert {part_of(name) for name in rest} == {3}
    assert {name for names in FOLDED.values() for name in names} <= form.fields.keys()
    assert {"name", "size"} - StudyIn.model_fields.keys() <= form.fields.keys()


def as_a_browser_sends(form: StudyForm) -> dict[str, Any]:
    """The form as it is shown, with nothing changed."""
    values = {field.html_name: field.value() for field in form if not isinstance(field.field, FileField)}
    return {
        name: "on" if value is True else value
        for name, value in values.items()
        if value is not None and value is not False
    }


def test_folds_stay_shut_on_the_way_and_open_where_something_in_them_is_changed(ada: Client) -> None:
    shown = as_a_browser_sends(ada.get(reverse("study-new")).context["form"])
    sent = shown | {"name": "new", "step": "to-2", "part": 1}
    plain = ada.post(reverse("study-new"), sent).context["form"].folds()
    assert {part: fold.is_open for part, fold in plain.items()} == dict.fromkeys(FOLDED, False)
    changed = ada.post(reverse("study-new"), sent | {"margin": "0.1"}).context["form"].folds()
    assert [part for part, fold in changed.items() if fold.is_open] == ["plan"]
