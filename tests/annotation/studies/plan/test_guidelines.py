"""Guidelines: their versions, who has read which, and Markdown from anybody."""

from __future__ import annotations

import pytest

from annotation.models import Acknowledgement, AuditEvent, Guideline
from annotation.studies.plan import guidelines
from annotation.studies.plan.guidelines import BadGuideline, Wording, write_guideline_version
from tests import factories, studies

pytestmark = pytest.mark.django_db


def test_a_version_is_acknowledged_once_and_the_next_one_anew() -> None:
    study = studies.study()
    erin = factories.erin()
    assert not guidelines.has_acknowledged_guideline(study, erin)
    guidelines.acknowledge_guideline(study, erin)
    guidelines.acknowledge_guideline(study, erin)
    assert guidelines.has_acknowledged_guideline(study, erin)
    assert Acknowledgement.objects.count() == 1

    study.guideline = studies.guideline(version=2, change="wording")
    assert not guidelines.has_acknowledged_guideline(study, erin)


def test_without_guidelines_there_is_nothing_to_read() -> None:
    study = studies.study(guideline=None)
    guidelines.acknowledge_guideline(study, factories.erin())
    assert guidelines.has_acknowledged_guideline(study, factories.erin())
    assert not Acknowledgement.objects.exists()


def test_versions_count_up_and_stay() -> None:
    first = write_guideline_version(Wording("rules", "One."), factories.ada())
    second = write_guideline_version(
        Wording("rules", "Two.", "meaning", "stricter"), factories.ada(), seen_version=1
    )
    assert (first.version, first.change) == (1, "first")
    assert (second.version, second.change, second.note) == (2, "meaning", "stricter")
    assert [one.text for one in guidelines.find_guideline_versions("rules")] == ["Two.", "One."]
    assert AuditEvent.objects.filter(verb="guidelines written").count() == 2


@pytest.mark.parametrize(
    ("wording", "seen", "why"),
    [
        (Wording("", "One."), 0, "name"),
        (Wording("other", "  "), 0, "empty"),
        (Wording("other", "x" * 100_001), 0, "100,000"),
        (Wording("rules", "Two."), 0, "already"),
        (Wording("rules", "Two.", "meaning", "stricter"), 2, "meanwhile"),
        (Wording("rules", "Two.", "first", "stricter"), 1, "wording or the meaning"),
        (Wording("rules", "Two.", "meaning", ""), 1, "what changed"),
        (Wording("other", "One.", worked_cases=({"query": "q"},)), 0, "case 1 has no code and no label"),
    ],
)
def test_what_can_not_be_a_version(wording: Wording, seen: int, why: str) -> None:
    write_guideline_version(Wording("rules", "One."), factories.ada())
    with pytest.raises(BadGuideline, match=why):
        write_guideline_version(wording, factories.ada(), seen)
    assert Guideline.objects.count() == 1


def test_hostile_text_is_saved_and_shown_as_text() -> None:
    made = write_guideline_version(Wording("a\x00b", "x\x00<script>alert(1)</script>"), factories.ada())
    assert (made.name, made.text) == ("a␀b", "x␀<script>alert(1)</script>")
    assert "<script>" not in guidelines.render_guideline_markdown(made.text)


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "![x](http://evil.example/x.png)",
        "<b>x</b>",
    ],
)
def test_markdown_brings_no_html_of_its_own(text: str) -> None:
    html = guidelines.render_guideline_markdown(text)
    assert "<img" not in html and 'href="javascript' not in html and "<b>" not in html


def test_markdown_is_rendered() -> None:
    html = guidelines.render_guideline_markdown(
        "# Rules\n\n- **all** of it\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"
    )
    assert "<h1>Rules</h1>" in html and "<strong>all</strong>" in html and "<table>" in html
