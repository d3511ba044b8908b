"""Pins of a mining and of two builds, taken from their pages, and what a pin's page tells of models."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Build
from annotation.pins import pin_leaderboard, pin_mining, reproduce_pin
from retrieval.models import Benchmark, Mining, Pin, Run
from tests import factories
from tests.annotation.pins.test_two_builds import builds, judged
from tests.annotation.web.benchmarks.test_views import benchmark_, scored

pytestmark = pytest.mark.django_db
__all__ = ["benchmark_", "builds", "scored"]
FOUND = {"matches": 4, "outside": 0, "found": {"1": 1, "2": 3}}
TAKE = "Pin the mining’s figures"


@pytest.fixture
def mined() -> Build:
    """A build whose mining found matches again, and does not say what its encoder was."""
    build = judged("mined", (1, 0))
    Mining.objects.filter(pk=build.own_mining.pk).update(
        encoders=["bow"], recovered=FOUND, k=2, state=Mining.State.DONE, finished_at=build.created_at
    )
    build.own_mining.refresh_from_db()
    return build


def text(client: Client, name: str, *keys: int) -> str:
    return client.get(reverse(name, args=keys)).content.decode()


def test_a_mining_is_pinned_from_its_builds_page(ada: Client, mined: Build) -> None:
    assert TAKE in text(ada, "build", mined.pk)
    answer = ada.post(reverse("build-mining-pin", args=[mined.pk]), follow=True)
    pin = Pin.objects.get()
    assert answer.redirect_chain == [(reverse("pin", args=[pin.pk]), 302)]
    assert f"Pinned as {pin.name}" in answer.content.decode()
    assert (pin.subject["id"], pin.created_by) == (mined.mining_id, factories.ada())


def test_only_admins_see_a_mining_so_only_they_pin_it(erin: Client, mined: Build) -> None:
    assert erin.post(reverse("build-mining-pin", args=[mined.pk])).status_code == 403
    assert not Pin.objects.exists()


def test_a_mining_without_figures_is_told_and_has_no_button(ada: Client, mined: Build) -> None:
    Mining.objects.filter(pk=mined.own_mining.pk).update(recovered=None)
    assert TAKE not in text(ada, "build", mined.pk)
    answer = ada.post(reverse("build-mining-pin", args=[mined.pk]), follow=True)
    assert "it has no figure" in answer.content.decode()
    assert answer.redirect_chain == [(reverse("build", args=[mined.pk]), 302)]


def test_how_unknown_weights_are_found_is_said_where_they_matter(ada: Client, mined: Build) -> None:
    said = f"cosqa admin mine {mined.mining_id} --identify"
    pin = pin_mining(mined.own_mining)
    for page in (text(ada, "build", mined.pk), text(ada, "pin", pin.pk)):
        assert said in page
    assert "not noted" in text(ada, "pin", pin.pk)
    Mining.objects.filter(pk=mined.own_mining.pk).update(
        identities={"bow": "bow;weights=1f2e"}, revisions={"bow": "0123abc"}
    )
    for page in (text(ada, "build", mined.pk), text(ada, "pin", pin.pk)):
        assert said not in page
    told = text(ada, "pin", pin.pk)
    assert "bow;weights=1f2e" in told and "0123abc" in told


def test_two_builds_are_pinned_from_their_comparison(erin: Client, builds: tuple[Build, Build]) -> None:
    both = {"first": builds[0].pk, "second": builds[1].pk}
    assert "Pin these figures" in erin.get(reverse("compare"), both).content.decode()
    answer = erin.post(reverse("compare-pin"), both, follow=True)
    pin = Pin.objects.get()
    assert answer.redirect_chain == [(reverse("pin", args=[pin.pk]), 302)]
    assert [one["id"] for one in pin.subject["builds"]] == list(both.values())
    assert "Models used" not in answer.content.decode()
    assert reproduce_pin(pin).equal


def test_readers_compare_and_pin_nothing(ray: Client, builds: tuple[Build, Build]) -> None:
    both = {"first": builds[0].pk, "second": builds[1].pk}
    assert "Pin these figures" not in ray.get(reverse("compare"), both).content.decode()
    assert ray.post(reverse("compare-pin"), both).status_code == 403


def test_what_is_not_over_has_no_button_and_is_told(erin: Client, builds: tuple[Build, Build]) -> None:
    running = judged("third", (1,), Build.State.RUNNING)
    both = {"first": builds[0].pk, "second": running.pk}
    page = erin.get(reverse("compare"), both).content.decode()
    assert "Pin these figures" not in page and "pin them once both are over" in page
    answer = erin.post(reverse("compare-pin"), both, follow=True)
    assert "is compared for good once it is over" in answer.content.decode()
    assert erin.post(reverse("compare-pin"), {"first": "x"}).status_code == 404
    assert not Pin.objects.exists()


def test_a_leaderboards_pin_names_the_models_of_its_runs(erin: Client, scored: Benchmark) -> None:
    first, second = Run.objects.filter(benchmark=scored, pool=scored.pool).order_by("pk")[:2]
    Run.objects.filter(pk=first.pk).update(
        encoders=["minilm", "bow"],
        options={"identities": ["minilm;weights=77aa", "bow"], "revisions": {"minilm": "c5f93f7"}},
    )
    Run.objects.filter(pk=second.pk).update(encoders=[])
    page = text(erin, "pin", pin_leaderboard(scored).pk)
    for said in ("Models used", "minilm;weights=77aa", "c5f93f7", "its lists were uploaded"):
        assert said in page


def test_typed_shares_of_wrong_labels_are_pinned(erin: Client, scored: Benchmark) -> None:
    erin.post(reverse("benchmark-pin", args=[scored.pk]), {"metric": "mrr", "errors": "0.03,0.25"})
    noise = Pin.objects.get().subject["noise"]
    assert (noise["matches"], noise["others"]) == (0.03, 0.25)
