"""`manage.py mine ID` of a mining that is done: what rests on its candidates stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.builds.results import publication
from annotation.builds.results.publication import Wish
from retrieval.models import Mining
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, settings: Any) -> None:
    settings.COSQA_HOME = tmp_path


def as_stored(mining: Mining) -> dict[str, Any]:
    return {**Mining.objects.values().get(pk=mining.pk), "candidates": mining.candidates.count()}


def test_a_mining_whose_pairs_a_build_judges_is_left_as_it_is() -> None:
    mining = factories.opened("autumn").own_mining
    before = as_stored(mining)
    with pytest.raises(CommandError, match=f"Mining {mining.pk} is done, and the cases of a build rest on"):
        call_command("mine", mining.pk, fusion="maxabs")
    assert as_stored(mining) == before


def test_a_mining_that_a_benchmark_was_published_from_is_left_as_it_is() -> None:
    build = factories.said(factories.opened("autumn"), (1, 0, 1))
    publication.publish_benchmark(Wish("ours", build.mining, build))
    with pytest.raises(CommandError, match="benchmark ours@1 rests on its candidates"):
        call_command("mine", build.own_mining.pk, anew=True)


def test_what_it_found_is_told_without_mining_again(capsys: pytest.CaptureFixture[str]) -> None:
    mining = factories.opened("autumn").own_mining
    Mining.objects.filter(pk=mining.pk).update(state=Mining.State.DONE)
    before = as_stored(mining)
    call_command("mine", mining.pk, json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["state"], told["candidates"]) == ("done", before["candidates"])
    assert as_stored(mining) == before


def test_candidates_that_no_encoder_found_do_not_become_a_failed_mining() -> None:
    mining = factories.mining(factories.queries(), factories.snippets(), encoders=["results of bm25"])
    Mining.objects.filter(pk=mining.pk).update(state=Mining.State.DONE)
    before = as_stored(mining)
    with pytest.raises(CommandError, match="no encoder is called 'results of bm25'"):
        call_command("mine", mining.pk)
    assert as_stored(mining) == before
