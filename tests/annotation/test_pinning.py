"""Pins: kept with what they rest on, computed again, and honest about what differs."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.pinning import NoSuchPin, named, pin_run, reproduce
from retrieval.evaluation.content import content_of
from retrieval.evaluation.leaderboard import Queries
from retrieval.evaluation.pinned import NotPinned, unequal
from retrieval.evaluation.publishing import Order, publish
from retrieval.evaluation.running import evaluate_file
from retrieval.metrics.names import measures
from retrieval.models import Annotator, BenchmarkLabel, Label, Pair, Pin, Pool, RankedList, Run, Score
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(tmp_path: Path) -> Run:
    queries, snippets = factories.queries(), factories.snippets()
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for query, snippet in ((0, 0), (1, 1)):
        ids = (queries.members.get(position=query).text_id, snippets.members.get(position=snippet).text_id)
        Label.objects.create(pair=Pair.objects.keep_all([ids])[0], annotator=by, value=1)
    made = publish(Order("small", queries, snippets, "by hand"), Label.objects.all())
    path = tmp_path / "mine"
    path.write_text(
        "queries-0 Q0 snippets-0 1 2 x\nqueries-1 Q0 snippets-0 1 2 x\nqueries-1 Q0 snippets-1 2 1 x\n"
    )
    return evaluate_file(path, "mine", content_of(made), Pool.COLLECTION, measures(["mrr"])).run


@pytest.fixture
def pin(run: Run) -> Pin:
    return pin_run(run, "mrr", Queries(), factories.ada())


def test_a_pin_has_all_that_is_needed_and_the_same_is_the_same_pin(run: Run, pin: Pin) -> None:
    assert pin.value["value"] == 0.75
    assert {"seed", "resamples", "queries", "metric", "run"} <= set(pin.subject)
    assert pin.ground["benchmark"] == run.benchmark.digest
    assert pin_run(run, "mrr", Queries()) == pin
    assert pin_run(run, "mrr", Queries(1, 1)) != pin
    assert named(pin.digest[:8]) == pin


def test_it_is_computed_again_from_lists_and_labels_alone(pin: Pin) -> None:
    Score.objects.all().delete()
    found = reproduce(pin)
    assert (found.equal, found.value, found.remarks) == (True, pin.value, [])


def test_another_version_of_the_code_is_told_and_is_no_difference(
    pin: Pin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.evaluation.pinned.code_version", lambda: "other")
    found = reproduce(pin)
    assert found.equal
    assert "'other' now" in found.remarks[0]


def test_changed_lists_and_labels_are_differences(pin: Pin) -> None:
    row = RankedList.objects.order_by("pk")[0]
    RankedList.objects.filter(pk=row.pk).update(data=b"\x03\x00\x00\x00")
    assert any(line.startswith("value.value: 0.75 then") for line in reproduce(pin).differences)
    BenchmarkLabel.objects.filter(benchmark=pin.subject["benchmark_id"]).update(relevance=2)
    assert any(line.startswith("labels: ") for line in reproduce(pin).differences)


def test_a_run_that_is_gone_can_not_be_computed(run: Run, pin: Pin) -> None:
    run.delete()
    found = reproduce(pin)
    assert not found.equal
    assert "not there any more" in found.differences[0]


def test_what_is_not_measured_is_not_pinned(run: Run) -> None:
    for metric, queries in (("map", Queries()), ("", Queries()), ("mrr", Queries(5))):
        with pytest.raises(NotPinned, match="mine has no"):
            pin_run(run, metric, queries)


@pytest.mark.parametrize("name", ["", "abc", "zzzzzzzz"])
def test_a_name_that_no_pin_has_says_how_names_look(pin: Pin, name: str) -> None:
    with pytest.raises(NoSuchPin, match="6 or more digits"):
        named(name)


def test_differences_are_said_in_words() -> None:
    assert unequal({"a": {"b": 1.0}}, {"a": {"b": 1.0 + 1e-14}}) == []
    assert unequal({"a": {"b": 1.0}, "c": "x"}, {"a": {"b": 2.0}}) == [
        "a.b: 1.0 then, 2.0 now",
        "c: 'x' then, None now",
    ]


def test_the_commands_pin_and_reproduce(run: Run) -> None:
    out = StringIO()
    call_command("pin", "leaderboard", "small", "--system", "mine", "--json", stdout=out)
    name = json.loads(out.getvalue())["name"]
    out = StringIO()
    call_command("reproduce", name, "--json", stdout=out)
    assert json.loads(out.getvalue())["equal"] is True
    RankedList.objects.all().delete()
    with pytest.raises(SystemExit):
        call_command("reproduce", name, stdout=out)
    assert "differs" in out.getvalue()
    with pytest.raises(CommandError, match="there are mine"):
        call_command("pin", "leaderboard", "small", "--system", "other")
    with pytest.raises(CommandError, match="6 or more"):
        call_command("reproduce", "nonsense")


def test_admins_pin_on_the_page_and_readers_read(ada: Client, ray: Client, run: Run) -> None:
    assert "No pin yet" in ray.get(reverse("pins")).content.decode()
    address, form = (
        reverse("benchmark-pin", args=[run.benchmark_id]),
        {"run": run.pk, "metric": "mrr", "found": ""},
    )
    page = ada.post(address, form, follow=True).content.decode()
    pin = Pin.objects.get()
    assert pin.created_by == factories.ada()
    assert f"manage.py reproduce {pin.name}" in page
    assert "0.7500" in ray.get(reverse("pins")).content.decode()
    assert "mrr of mine on small@1" in ray.get(reverse("pin", args=[pin.name])).content.decode()
    assert "has no map" in ada.post(address, form | {"metric": "map"}, follow=True).content.decode()
    assert ray.post(address, form).status_code == 403
    assert ray.get(reverse("pin", args=["nonsense"])).status_code == 404
