"""Pinned comparisons of two versions: computed again from lists and labels, and closed as these are."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.pins import NothingToPin, pin_comparison, reproduce_pin
from annotation.pins.pin_record import format_run_identity
from annotation.web.pins.page import filter_visible_pins
from retrieval.evaluation.content import content_of
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.metrics.names import parse_measures
from retrieval.models import (
    Annotator,
    Benchmark,
    BenchmarkLabel,
    KeptFigures,
    Label,
    Pin,
    Pool,
    RankedList,
    Run,
    Score,
)
from tests.retrieval.evaluation.conftest import annotator, benchmark_, labelled, pair, say

pytestmark = pytest.mark.django_db
__all__ = ["annotator", "benchmark_", "labelled"]


@pytest.fixture
def versions(
    benchmark_: Benchmark, labelled: Order, annotator: Annotator, tmp_path: Path
) -> tuple[Benchmark, Benchmark]:
    """Query 0: snippet 0 is no match any more, 1 is one. Two systems, whose order turns round."""
    for (query, snippet), value in {(0, 0): 0, (0, 1): 1}.items():
        say(annotator, pair(labelled.queries, labelled.snippets, query, snippet), value)
    second = publish_benchmark(labelled, Label.objects.all())
    run(benchmark_, tmp_path, "<i>early", 0, 3, 1)
    run(second, tmp_path, "late", 3, 1, 0)
    return benchmark_, second


def run(benchmark: Benchmark, folder: Path, name: str, *snippets: int) -> None:
    path = folder / "run"
    rows = enumerate(snippets, 1)
    path.write_text("".join(f"queries-0 Q0 snippets-{one} {rank} {-rank} me\n" for rank, one in rows))
    evaluate_file(path, name, content_of(benchmark), Pool.COLLECTION, parse_measures(["mrr", "ndcg_within"]))


@pytest.fixture
def pin(versions: tuple[Benchmark, Benchmark]) -> Pin:
    return pin_comparison(*versions)


def test_what_the_page_shows_is_pinned_and_equal_again(pin: Pin) -> None:
    assert pin.value["labels"]["1 → 0"] == pin.value["labels"]["0 → 1"] == 1
    assert pin.value["queries"] == {"first": 2, "second": 2, "common": 2}
    # Query 0 has its first match at 1, then 3, of early, and at 3, then 2, of late; query 1 has no list.
    means = {name: (one["first"], one["second"]) for name, one in pin.value["systems"].items()}
    assert means["<i>early (text not known)"] == pytest.approx((1 / 2, 1 / 6))
    assert means["late (text not known)"] == pytest.approx((1 / 6, 1 / 4))
    assert pin.value["kendall_tau"] == -1.0
    found = reproduce_pin(pin)
    assert (found.changes, found.grounds) == ((), ())


def test_nothing_that_was_kept_is_read_and_nothing_is_kept(pin: Pin) -> None:
    KeptFigures.objects.all().delete()
    Score.objects.all().delete()
    assert reproduce_pin(pin).equal
    assert not KeptFigures.objects.exists()


def test_a_later_run_changes_no_pin(pin: Pin, versions: tuple[Benchmark, Benchmark], tmp_path: Path) -> None:
    assert pin_comparison(*versions) == pin
    run(versions[1], tmp_path, "third", 1)
    assert reproduce_pin(pin).equal
    assert pin_comparison(*versions) != pin


def test_labels_that_somebody_changed_are_found(pin: Pin, versions: tuple[Benchmark, Benchmark]) -> None:
    BenchmarkLabel.objects.filter(benchmark=versions[1], relevance__lte=0).order_by("pk")[:1].get().delete()
    found = reproduce_pin(pin)
    assert any(one.where.startswith("labels/") for one in found.changes)
    assert "labels/1" in {one.where for one in found.grounds}


def test_lists_that_somebody_changed_are_found(pin: Pin) -> None:
    RankedList.objects.filter(run__system="late").update(data=np.array([0], "<u4").tobytes())
    found = reproduce_pin(pin)
    assert "systems/late (text not known)/first" in {one.where for one in found.changes}
    (lists,) = (one.now for one in found.grounds if one.where == "lists")
    assert list(lists) == [format_run_identity(Run.objects.get(system="late"))]


def test_what_is_gone_is_missing(pin: Pin, versions: tuple[Benchmark, Benchmark]) -> None:
    Run.objects.filter(system="late").delete()
    assert any(one.now is None and "late" in one.where for one in reproduce_pin(pin).changes)
    Run.objects.all().delete()
    versions[0].delete()
    found = reproduce_pin(pin)
    assert not found.equal
    assert [(one.where, one.now) for one in found.grounds] == [("before", None)]


def test_a_page_does_not_wait_and_one_version_is_none(
    versions: tuple[Benchmark, Benchmark], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.evaluation.robustness.label_noise.MOST_AT_ONCE", 0)
    with pytest.raises(NothingToPin, match=r"cosqa admin pin --compare small@1 small@2"):
        pin_comparison(*versions, wait=False)
    with pytest.raises(NothingToPin, match="name two"):
        pin_comparison(versions[0], versions[0])
    assert not Pin.objects.exists()


def test_the_command_pins_a_comparison(versions: tuple[Benchmark, Benchmark]) -> None:
    out = StringIO()
    asked = ["pin", "--compare", "small@1", "small", "--metric", "mrr"]
    call_command(*asked, stdout=out, stderr=StringIO())
    call_command("reproduce", out.getvalue().strip(), stdout=out)
    assert "small@1 → small@2 by mrr: 2 systems" in out.getvalue()
    assert "\nequal\n" in out.getvalue()
    with pytest.raises(CommandError, match="no benchmark 'none'"):
        call_command("pin", "--compare", "small", "none")


def test_experts_pin_it_from_its_page_and_readers_read_it(
    erin: Client, ray: Client, versions: tuple[Benchmark, Benchmark]
) -> None:
    first, second = versions
    page = reverse("benchmark-compare", args=[second.pk])
    assert "Pin these figures" in erin.get(page).content.decode()
    assert "Pin these figures" not in ray.get(page).content.decode()
    place, sent = reverse("benchmark-compare-pin", args=[second.pk]), {"with": first.pk, "metric": "mrr"}
    assert ray.post(place, sent).status_code == 403
    assert erin.post(place, {"with": "x"}).status_code == 404
    text = erin.post(place, sent, follow=True).content.decode()
    pin = Pin.objects.get()
    for words in (f"cosqa admin reproduce {pin.name}", "1 → 0", "tau −1.000", "&lt;i&gt;early", "to"):
        assert words in text
    assert f"{page}?with={first.pk}&amp;metric=mrr" in text
    assert "<i>early" not in text
    assert pin.title in ray.get(reverse("reports")).content.decode()


def test_it_is_closed_where_either_version_is(pin: Pin, monkeypatch: pytest.MonkeyPatch) -> None:
    def only(number: int) -> object:
        return lambda user: Benchmark.objects.filter(version=number)

    for number in (1, 2):
        monkeypatch.setattr("annotation.web.pins.page.benchmarks_visible_to", only(number))
        assert filter_visible_pins(AnonymousUser(), [pin]) == []
    monkeypatch.setattr(
        "annotation.web.pins.page.benchmarks_visible_to", lambda user: Benchmark.objects.all()
    )
    assert filter_visible_pins(AnonymousUser(), [pin]) == [pin]
