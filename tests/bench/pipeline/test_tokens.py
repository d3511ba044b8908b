"""The tokens of both screeners, in one unit over the same texts, and what their labels are worth beside."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from annotation import prompts
from annotation.models import Build, Case
from annotation.stages import Stage
from bench.pipeline import tokens
from retrieval.models import Annotator, Label
from tests import factories

pytestmark = pytest.mark.django_db


def done(name: str, how: str, labels: list[int]) -> Build:
    """A finished build whose first cases have these labels."""
    annotator = Annotator.objects.version(Annotator.Kind.AGENTS, "agents", {"screener": how})
    build = factories.opened(name, annotator=annotator)
    for case, label in zip(Case.objects.filter(build=build).order_by("pk"), labels, strict=False):
        Case.objects.filter(pk=case.pk).update(stage=Stage.SETTLED, label=label)
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE, finished_at=timezone.now())
    return build


def original(build: Build, values: list[int]) -> None:
    """Original labels of the build's first pairs."""
    annotator = Annotator.objects.version(Annotator.Kind.ORIGINAL, "CoSQA", {})
    for case, value in zip(Case.objects.filter(build=build).order_by("pk"), values, strict=False):
        Label.objects.create(pair=case.pair, annotator=annotator, value=value)


def measured() -> dict[str, Any]:
    return dict(tokens.measure_pipeline_tokens()[1])


def test_all_candidates_in_one_request_take_less_than_half_in_either_unit() -> None:
    found = measured()
    assert 0.1 < found["tokens_of_paper"] <= tokens.LIMIT
    assert 0.1 < found["the_same_counted_by_characters"] <= tokens.LIMIT
    single, together = found["one_request_a_pair"], found["one_request_a_query"]
    assert single["all"] == pytest.approx(single["input"] + single["output"], abs=0.11)
    assert together["output"] > single["output"], "the same words, and a number for each"
    assert found["prompts"]["screener"]["system"] == prompts.load_agent_prompt("screener").sections["system"]
    assert "{{candidates}}" in found["prompts"]["query_screener"]["user"]


def test_without_a_tokenizer_the_unit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "TOKENIZER", "no_such_package")
    found = measured()
    assert found["unit"].startswith("characters ÷ 3.6")
    assert found["tokens_of_paper"] == found["the_same_counted_by_characters"]


def test_quality_that_nobody_measured_is_null_and_says_why() -> None:
    done("unlabelled", "pair", [1, 1, 0])
    quality = measured()["quality"]
    assert (quality["one_request_a_pair"], quality["one_request_a_query"]) == (None, None)
    assert "can't be without a model" in quality["where_null"]


def test_quality_is_agreement_with_original_labels_over_the_pairs_of_both() -> None:
    pair = done("by pair", "pair", [1, 1, 0, 0])
    done("by query", "query", [1, 0, 0])
    original(pair, [1, 1, 0, 1])
    quality = measured()["quality"]
    assert quality["one_request_a_pair"] == {
        "build": "by pair",
        "answers": tokens.BY_FILE,
        "pairs": 3,
        "agreement": 1.0,
        "interval": pytest.approx([0.4385, 1.0]),
    }
    assert quality["one_request_a_query"]["agreement"] == pytest.approx(2 / 3, abs=1e-4)


def test_what_stands_beside_the_ratio_is_the_quality_of_both_or_that_it_is_not_known() -> None:
    pair = done("by pair", "pair", [1, 1, 0, 0])
    original(pair, [1, 1, 0, 1])
    assert tokens.describe_screener_quality(measured()["quality"]) == tokens.NOT_KNOWN
    done("by query", "query", [1, 0, 0])
    words = tokens.describe_screener_quality(measured()["quality"])
    assert words.startswith("one request a query: agreement 0.6667 (")
    assert "; one request a pair: agreement 1.0 (0.4385 to 1.0) over 3 pairs, replies by file" in words
