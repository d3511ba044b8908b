"""What an old mining's encoders were is proved by its scores, or it is said that nobody can."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from retrieval.evaluation.robustness.weights_proof import NotTold, identify_encoders
from retrieval.mining import perform_mining
from retrieval.models import Candidate, Mining
from tests import factories
from tests.annotation.pins.test_searching import Drawn

pytestmark = pytest.mark.django_db
WORDS = ("sort rows", "sort words", "open all the files")
CODES = tuple(f"def {name}(some):\n    return sorted(some)\n" for name in ("a", "bbb", "ccccc", "ddddddd"))


@pytest.fixture
def vectors(tmp_path: Path, settings: Settings) -> Path:
    settings.COSQA_HOME = tmp_path
    return tmp_path / "vectors"


@pytest.fixture
def old(vectors: Path, monkeypatch: pytest.MonkeyPatch) -> Mining:
    """By terms and by vectors, without a word of what these were."""
    from retrieval.encoders import find_encoder

    known = {"minilm:me/mine": Drawn(), "bm25": find_encoder("bm25")}
    monkeypatch.setattr("retrieval.mining.known_encoders.find_encoder", known.__getitem__)
    row = factories.mining(
        factories.queries(WORDS),
        factories.snippets(CODES),
        encoders=list(known),
        rule=0,
        k=3,
        state=Mining.State.WAITING,
    )
    perform_mining(row, vectors)
    monkeypatch.undo()
    Mining.objects.filter(pk=row.pk).update(identities=None)
    row.refresh_from_db()
    return row


def test_vectors_and_terms_that_give_the_scores_are_what_it_was(old: Mining, vectors: Path) -> None:
    told = identify_encoders(old, vectors)
    assert told["minilm:me/mine"] == "minilm;weights=of a test"
    assert told["bm25"].startswith("bm25;")


def test_one_score_that_differs_is_enough(old: Mining, vectors: Path) -> None:
    row = Candidate.objects.filter(mining=old).order_by("query_id", "rank")[1]
    row.scores["minilm:me/mine"]["raw"] += 1e-6
    row.save()
    with pytest.raises(NotTold, match="Nothing that is stored here gives the scores that minilm"):
        identify_encoders(old, vectors)


def test_without_vectors_nothing_is_guessed(old: Mining, tmp_path: Path) -> None:
    with pytest.raises(NotTold, match="its vectors are gone, or it had other options"):
        identify_encoders(old, tmp_path / "nowhere")


def test_candidates_of_a_release_have_no_scores(old: Mining, vectors: Path) -> None:
    Candidate.objects.filter(mining=old).update(scores={})
    with pytest.raises(NotTold, match="came without the scores"):
        identify_encoders(old, vectors)


def test_the_command_notes_it_once(old: Mining) -> None:
    out = StringIO()
    call_command("mine", str(old.pk), "--identify", stdout=out)
    old.refresh_from_db()
    assert old.identities == dict(line.split(": ", 1) for line in out.getvalue().splitlines())
    assert json.dumps(old.identities).count("of a test") == 1
    with pytest.raises(CommandError, match="says what its encoders were"):
        call_command("mine", str(old.pk), "--identify")
