"""Guidelines are written version by version, looked at before, and shown without anybody's HTML."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Guideline
from tests import studies

pytestmark = pytest.mark.django_db


def posted(**changes: Any) -> dict[str, Any]:
    data = {
        "name": "Match rules",
        "text": "# Rules\n\n<script>alert(1)</script> **All** of it.",
        "step": "save",
        "form-TOTAL_FORMS": 2,
        "form-INITIAL_FORMS": 0,
        "form-0-query": "reverse <b>",
        "form-0-code": "  return x[::-1]",
        "form-0-value": "1",
        "form-0-why": "it does",
        "form-1-query": "",
    }
    return data | changes


def test_guidelines_are_looked_at_and_written(ada: Client) -> None:
    assert "No guidelines yet" in ada.get(reverse("guidelines")).content.decode()
    shown = ada.post(reverse("guideline-new"), posted(step="preview")).content.decode()
    assert "As raters will read it" in shown and "<strong>All</strong>" in shown
    assert "<script>alert" not in shown and not Guideline.objects.exists()

    ada.post(reverse("guideline-new"), posted())
    made = Guideline.objects.get()
    assert made.worked_cases == [
        {"query": "reverse <b>", "code": "  return x[::-1]", "value": "1", "why": "it does"}
    ]
    text = ada.get(reverse("guideline", args=[made.pk])).content.decode()
    assert "<strong>All</strong>" in text and "<script>alert" not in text and "reverse &lt;b&gt;" in text


def test_the_preview_has_the_cases_and_room_for_more(ada: Client) -> None:
    case = {"query": "sort a list", "code": "return sorted(x)", "value": "1", "why": "in order"}
    two = posted(step="preview") | {f"form-1-{name}": text for name, text in case.items()}
    text = ada.post(reverse("guideline-new"), two).content.decode()
    preview = text[text.index("As raters will read it") : text.index("<fieldset")]
    assert "reverse &lt;b&gt;" in preview and "return sorted(x)" in preview
    assert 'name="form-3-query"' in text and 'value="sort a list"' in text
    assert 'name="form-TOTAL_FORMS" value="4"' in text


def test_code_of_several_lines_has_no_carriage_returns(ada: Client) -> None:
    ada.post(
        reverse("guideline-new"),
        posted(**{"text": "One.\r\n\r\nTwo.", "form-0-code": "def f(x):\r\n    return x"}),
    )
    made = Guideline.objects.get()
    assert (made.text, made.worked_cases[0]["code"]) == ("One.\n\nTwo.", "def f(x):\n    return x")
    assert "U+000D" not in ada.get(reverse("guideline", args=[made.pk])).content.decode()


def test_the_next_version_says_what_changes(ada: Client) -> None:
    ada.post(reverse("guideline-new"), posted())
    first = Guideline.objects.get()
    where = reverse("guideline-edit", args=[first.pk])
    assert "reverse &lt;b&gt;" in ada.get(where).content.decode()
    assert "What is different</label>" in ada.get(where).content.decode(), "not optional"
    refused = ada.post(where, posted(text="Other."))
    assert refused.status_code == 422 and "wording or the meaning" in refused.content.decode()
    ada.post(where, posted(text="Other.", change="meaning", note="stricter"))
    second = Guideline.objects.get(version=2)
    assert (second.change, second.name) == ("meaning", "Match rules")
    late = ada.post(where, posted(text="Mine.", change="wording", note="mine"))
    assert late.status_code == 422 and "meanwhile" in late.content.decode()
    listed = ada.get(reverse("guidelines")).content.decode()
    assert listed.count("Match rules") == 1


def test_studies_that_follow_it_are_named(ada: Client) -> None:
    study = studies.study("zebra study")
    assert study.guideline
    text = ada.get(reverse("guideline", args=[study.guideline.pk])).content.decode()
    assert "zebra study" in text
