"""What share of the matches that came with the data a mining found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from retrieval.mining import perform_mining
from retrieval.models import Annotator, Label, Mining, Pair, Text
from tests import factories

pytestmark = pytest.mark.django_db
WORDS = ("sort rows", "sort words", "open files", "nothing like it")
CODES = (
    "def sort_rows(rows):\n    return sorted(rows)\n",
    "def sort_words(words):\n    return sorted(words)\n",
    "def open_files(files):\n    return files.open()\n",
    "class NoFunction:\n    pass\n",
)


def mining(**columns: object) -> Mining:
    wanted = {"encoders": ["bow"], "k": 2, "state": Mining.State.WAITING, **columns}
    return factories.mining(factories.queries(WORDS), factories.snippets(CODES), **wanted)


def say(query: str, snippet: str, *values: int | None, kind: str = Annotator.Kind.ORIGINAL) -> None:
    """One label after another of one pair."""
    asked, code = Text.objects.keep(query), Text.objects.keep(snippet)
    [pair] = Pair.objects.keep_all([(asked.pk, code.pk)])
    for round_, value in enumerate(values, 1):
        who = Annotator.objects.version(kind, f"the data {round_}", {})
        Label.objects.create(pair=pair, annotator=who, value=value)


def test_matches_are_counted_by_cut_off(tmp_path: Path) -> None:
    row = mining()
    say(WORDS[0], CODES[0], 1)  # first in its list
    say(WORDS[0], CODES[1], 1)  # second
    say(WORDS[3], CODES[2], 1)  # not in it: it has no word in common, and two others come before
    say(WORDS[2], CODES[3], 1)  # passes no rule
    say(WORDS[1], CODES[1], 0)  # no match
    say(WORDS[2], CODES[2], 1, None)  # taken back
    say(WORDS[1], CODES[0], 1, kind=Annotator.Kind.PERSON)  # not of the original data
    perform_mining(row, tmp_path)
    row.refresh_from_db()
    assert row.recovered == {"matches": 3, "outside": 1, "queries": 2, "found": {"1": 1, "2": 2}}
    assert "66.7 % of 3 human matches are among the top 2 (2 found); 1 more" in row.recovery


def test_labels_of_agents_that_came_back_in_a_release_are_no_humans(tmp_path: Path) -> None:
    row = mining()
    say(WORDS[0], CODES[0], 1)
    say(WORDS[0], CODES[1], 1)
    mine, back = Label.objects.order_by("pk")
    config = {"source": "plus", "given_by": "agent", "annotator": "test-driven agents", "version": "231f0da8"}
    back.annotator = Annotator.objects.version(Annotator.Kind.ORIGINAL, "again", config)
    back.save()
    perform_mining(row, tmp_path)
    row.refresh_from_db()
    assert row.recovered and row.recovered["matches"] == 1  # of two: the other one is the agents'
    back.annotator = mine.annotator
    back.save()
    other = mining(limit=2)
    perform_mining(other, tmp_path)
    other.refresh_from_db()
    assert other.recovered and other.recovered["matches"] == 2


def test_a_later_label_of_the_data_counts(tmp_path: Path) -> None:
    row = mining(limit=1)
    say(WORDS[0], CODES[0], 0, 1)
    say(WORDS[1], CODES[1], 1)  # of a query that is not mined
    perform_mining(row, tmp_path)
    row.refresh_from_db()
    assert row.recovered == {"matches": 1, "outside": 0, "queries": 1, "found": {"1": 1, "2": 1}}


def test_the_command_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    row = mining()
    say(WORDS[0], CODES[0], 1)
    call_command("mine", row.pk)
    assert "100.0 % of 1 human matches are among the top 2" in capsys.readouterr().out
    call_command("mine", row.pk, json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["candidates"], told["state"], told["recovered"]["found"]) == (5, "done", {"1": 1, "2": 1})


def test_without_labels_there_is_nothing_to_tell(tmp_path: Path) -> None:
    row = mining()
    perform_mining(row, tmp_path)
    row.refresh_from_db()
    assert (row.recovered or {})["matches"] == 0 and row.recovery == ""
