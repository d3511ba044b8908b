"""What a leaderboard's pin holds of label errors and of ranks without an encoder, and both computed again."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.pins import pin_leaderboard, reproduce_pin, search_too
from annotation.web.benchmarks import leaderboard_notes
from annotation.web.pins.page import filter_visible_pins
from retrieval.evaluation.robustness import label_noise
from retrieval.evaluation.robustness.label_noise import ErrorRates
from retrieval.metrics.resampling import RANKING_SEED, SIMULATED_DRAWS
from retrieval.models import Benchmark, KeptFigures, Mining, Pin, RankedList
from tests import factories, studies
from tests.annotation.test_leaderboard import made

pytestmark = pytest.mark.django_db
__all__ = ["made"]


@pytest.fixture
def pin(made: Benchmark) -> Pin:
    call_command("leaderboard", "small", "--leave-one-out", stdout=StringIO(), stderr=StringIO())
    return pin_leaderboard(Benchmark.objects.get(pk=made.pk))  # its mining as the database has it


@pytest.fixture
def vectors(settings: Any) -> Path:
    return Path(settings.COSQA_HOME) / "vectors"


def test_shares_and_ranks_are_pinned_with_all_that_decides_them(pin: Pin) -> None:
    asked = pin.subject["noise"]
    assert {key: asked[key] for key in ("matches", "others", "draws", "seed", "study")} == {
        "matches": 0.061,
        "others": 0.061,
        "draws": SIMULATED_DRAWS,
        "seed": RANKING_SEED,
        "study": None,
    }
    assert len(pin.value["noise"]["above"]) == 1 and len(pin.value["noise"]["ranks"]) == 2
    assert set(pin.value["without"]) == set(pin.subject["without"]["encoders"]) == {"bm25", "bow"}
    assert set(pin.value["without"]["bow"]["ranks"].values()) == {1, 2}


def test_draws_are_made_again_and_ranks_only_from_vectors(pin: Pin, vectors: Path) -> None:
    KeptFigures.objects.all().delete()
    found = reproduce_pin(pin)
    assert (found.changes, found.grounds) == ((), ())
    assert found.notes == ("ranks without an encoder: not computed again; '--from vectors' mines again",)
    again = search_too(found, vectors)
    assert again.equal
    assert again.notes[-1] == "ranks without an encoder: mined again"


def test_draws_and_ranks_that_come_out_otherwise_are_told(pin: Pin, vectors: Path) -> None:
    spoilt = {key: dict(part) for key, part in pin.value.items() if key in ("noise", "without")}
    (name,) = spoilt["noise"]["above"]
    spoilt["noise"]["above"] = {name: 0.123}
    spoilt["without"]["bow"] = {**spoilt["without"]["bow"], "labels": 99}
    Pin.objects.update(value={**pin.value, **spoilt})
    found = search_too(reproduce_pin(Pin.objects.get()), vectors)
    assert [one.where for one in found.changes] == [f"noise/above/{name}", "without/bow/labels"]


def test_other_lists_give_other_draws(pin: Pin) -> None:
    RankedList.objects.filter(run__system="bow").update(data=b"")
    assert any(one.where.startswith("noise/") for one in reproduce_pin(pin).changes)


def test_a_mining_that_can_not_be_made_again_is_no_difference(pin: Pin, vectors: Path) -> None:
    named = dict(pin.subject["without"], identities=None)
    Pin.objects.update(subject={**pin.subject, "without": named})
    told = Mining.objects.values_list("identities", flat=True).first()
    Mining.objects.update(identities=None)
    found = search_too(reproduce_pin(Pin.objects.get()), vectors)
    assert found.equal
    assert "not mined again: the mining does not say" in found.notes[-1]
    assert "--identify" in found.notes[-1]
    Mining.objects.update(identities=told)  # as that command does
    assert search_too(reproduce_pin(Pin.objects.get()), vectors).notes[-1].endswith("mined again")
    Pin.objects.update(
        subject={**pin.subject, "without": dict(named, identities={"bm25": "bm25;k1=9;b=9", "bow": "bow"})}
    )
    assert "other options now" in search_too(reproduce_pin(Pin.objects.get()), vectors).notes[-1]


def test_what_was_not_computed_is_no_part_and_asking_computes_it(
    made: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_noise, "MOST_AT_ONCE", 0)
    assert not {"noise", "without"} & set(pin_leaderboard(made).value)
    out = StringIO()
    call_command("pin", "--benchmark", "small", "--errors", "0.1,0.2", stdout=out, stderr=StringIO())
    pin = Pin.objects.get(digest__startswith=out.getvalue().strip())
    assert (pin.subject["noise"]["matches"], pin.subject["noise"]["others"]) == (0.1, 0.2)
    assert reproduce_pin(pin).equal
    with pytest.raises(CommandError, match="write a share"):
        call_command("pin", "--benchmark", "small", "--errors", "many")


def test_the_page_pins_its_choice_and_shows_it(erin: Client, pin: Pin) -> None:
    benchmark = Benchmark.objects.get()
    page = erin.get(reverse("benchmark", args=[benchmark.pk]), {"errors": "0.1"}).content.decode()
    assert '<input type="hidden" name="errors" value="0.1">' in page
    text = erin.post(reverse("benchmark-pin", args=[benchmark.pk]), {"errors": "0.1"}, follow=True)
    for words in ("With 10.0 % of the matches", "200 draws", "Without bow", "an assumption"):
        assert words in text.content.decode()


def test_shares_of_a_closed_study_close_the_pin(
    erin: Client, made: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = studies.study("hidden")
    choice = leaderboard_notes.ErrorRateChoice(
        f"study-{study.pk}", "by a study", ErrorRates(0.2, 0.1, "the study", 10, 20)
    )
    monkeypatch.setattr(leaderboard_notes, "_studied", lambda benchmark, user: [choice])
    shown = erin.post(reverse("benchmark-pin", args=[made.pk]), follow=True).content.decode()
    assert "as the 10 matches and 20 other labels of the study leave them open" in shown
    pin = Pin.objects.get()
    assert (pin.subject["noise"]["matches_of"], pin.subject["noise"]["others_of"]) == (10, 20)
    assert reproduce_pin(pin).equal
    assert pin.subject["noise"]["study"] == study.pk
    assert filter_visible_pins(factories.ray(), [pin]) == [pin]
    monkeypatch.setattr("annotation.web.pins.page.is_open", lambda user, study: False)
    assert filter_visible_pins(factories.ray(), [pin]) == []
