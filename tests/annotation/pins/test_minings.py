"""A mining's own figures as a pin: recovered matches counted again, recall measured again by exact search."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from annotation.models import Build
from annotation.pins import NothingToPin, pin_mining, reproduce_pin, search_too
from retrieval.mining import perform_mining
from retrieval.mining.measuring_again import recovered_again
from retrieval.models import Annotator, Candidate, Label, Mining, Pair
from tests import factories
from tests.annotation.pins.test_searching import Drawn

pytestmark = pytest.mark.django_db
WORDS = ("sort rows", "sort words", "open all the files")
CODES = tuple(f"def {name}(some):\n    return sorted(some)\n" for name in ("a", "bbb", "ccccc", "ddddddd"))


@pytest.fixture
def vectors(tmp_path: Path, settings: Settings) -> Path:
    settings.COSQA_HOME = tmp_path
    return tmp_path / "vectors"


def label(mining: Mining, query: int, rank: int, value: int = 1) -> Label:
    """A label of the original data for a candidate, or for a pair beyond the last rank."""
    asked = mining.queries.members.get(position=query).text_id
    code = mining.snippets.members.get(position=rank).text_id
    [pair] = Pair.objects.keep_all([(asked, code)])
    annotator = Annotator.objects.version(Annotator.Kind.ORIGINAL, "the data", {})
    return Label.objects.create(pair=pair, annotator=annotator, value=value)


@pytest.fixture
def mining(vectors: Path, monkeypatch: pytest.MonkeyPatch) -> Mining:
    """By an index of inverted lists, of vectors that are drawn."""
    monkeypatch.setattr("retrieval.mining.known_encoders.find_encoder", lambda name: Drawn())
    row = factories.mining(
        factories.queries(WORDS),
        factories.snippets(CODES),
        encoders=["minilm:me/mine"],
        rule=0,
        k=2,
        approximate="ivf",
        state=Mining.State.WAITING,
    )
    for query, snippet in ((0, 0), (0, 1), (1, 2), (2, 3)):
        label(row, query, snippet)
    perform_mining(row, vectors)
    monkeypatch.undo()
    row.refresh_from_db()
    return row


def test_both_figures_are_pinned_and_come_out_again(mining: Mining, vectors: Path) -> None:
    pin = pin_mining(mining)
    assert mining.recovered is not None and mining.recall is not None
    assert pin.value["recovered"]["found"] == mining.recovered["found"]
    assert pin.value["recovered"]["shares"]["2"] == mining.recovered["found"]["2"] / 4
    assert pin.value["recall"]["recall"] == mining.recall["recall"] == 1
    first = reproduce_pin(pin)
    assert first.equal and "--from vectors" in first.notes[0]
    again = search_too(first, vectors)
    assert again.equal and again.notes == ("recall of the index: measured again by exact search",)


def test_candidates_are_not_read_anew_for_each_query(mining: Mining) -> None:
    with CaptureQueriesContext(connection) as seen:
        found = recovered_again(mining)
    assert found == mining.recovered
    read = [one for one in seen if 'FROM "retrieval_candidate"' in one["sql"]]
    assert len(read) == 2  # who was mined, and at which ranks the matches are


def test_labels_that_came_later_make_no_difference_and_lost_candidates_do(mining: Mining) -> None:
    pin = pin_mining(mining)
    later = label(mining, 2, 0)
    assert mining.finished_at is not None
    Label.objects.filter(pk=later.pk).update(created_at=mining.finished_at + timedelta(hours=1))
    assert reproduce_pin(pin).equal
    Candidate.objects.filter(mining=mining, rank=1).delete()
    found = reproduce_pin(pin)
    assert not found.equal and {one.where for one in found.grounds} >= {"candidates", "lists"}


def test_a_recall_that_comes_out_otherwise_is_told(mining: Mining, vectors: Path) -> None:
    told = pin_mining(mining)
    assert mining.recall is not None
    Mining.objects.filter(pk=mining.pk).update(recall={**mining.recall, "recall": 0.5})
    pin = pin_mining(Mining.objects.get(pk=mining.pk))
    assert pin != told
    [change] = search_too(reproduce_pin(pin), vectors).changes
    assert (change.where, change.before, change.now) == ("recall/recall", 0.5, 1.0)


def test_without_vectors_or_the_mining_it_is_said(mining: Mining, tmp_path: Path) -> None:
    pin = pin_mining(mining)
    [note] = search_too(reproduce_pin(pin), tmp_path / "nowhere").notes
    assert "not measured again: no vectors of" in note
    Mining.objects.filter(pk=mining.pk).update(state=Mining.State.WAITING)
    assert not reproduce_pin(pin).equal


def test_what_has_no_figure_is_not_pinned(tmp_path: Path) -> None:
    row = factories.mining(
        factories.queries(("return it",)), factories.snippets(CODES), encoders=["bow"], rule=0, k=2
    )
    Mining.objects.filter(pk=row.pk).update(state=Mining.State.WAITING)
    row.refresh_from_db()
    with pytest.raises(NothingToPin, match="is waiting: its figures are pinned once it is done"):
        pin_mining(row)
    perform_mining(row, tmp_path)
    row.refresh_from_db()
    with pytest.raises(NothingToPin, match="it has no figure"):
        pin_mining(row)


def test_the_command_pins_and_reproduces_and_admins_read_it(
    mining: Mining, ada: Client, erin: Client
) -> None:
    Build.objects.filter(pk=factories.launched().pk).update(mining=mining)
    out = StringIO()
    call_command("pin", "--mining", str(mining.pk), stdout=out, stderr=StringIO())
    name = out.getvalue().strip()
    told = StringIO()
    call_command("reproduce", name, "--from", "vectors", stdout=told)
    assert "equal" in told.getvalue()
    pin = pin_mining(mining)
    page = ada.get(reverse("pin", args=[pin.pk])).content.decode()
    assert "shares, 2" in page and "recall" in page
    assert erin.get(reverse("pin", args=[pin.pk])).status_code == 404
    with pytest.raises(CommandError, match="There is no mining 0"):
        call_command("pin", "--mining", "0")
