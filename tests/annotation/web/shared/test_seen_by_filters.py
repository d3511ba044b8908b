"""What a page tells of a pair without a column for it counts as seen, too: filters, counts, other figures."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation import review
from annotation.derived.missing_functions import function_decisions
from annotation.derived.missing_functions.function_decisions import ProposalChoice
from annotation.models import Build, Case, Filling, Seen
from annotation.pins import pin_two_builds
from annotation.review import Beside
from annotation.web.cases import candidates, matches
from retrieval.models import Annotator, Label
from tests import factories, filling
from tests.annotation.pins.test_two_builds import judged

pytestmark = pytest.mark.django_db
EVIDENCE = "c" * 64


@pytest.fixture
def build() -> Build:
    """Three queries with two pairs each: of the first, one is a match, so that its counts tell neither."""
    made = factories.opened(k=2)
    for case, label in zip(factories.cases(made), (1, 0, 0, 0), strict=False):
        factories.settled(case, label)
    return made


def seen(user: User, *, verdict: bool = True) -> set[int]:
    return set(Seen.objects.filter(user=user, verdict=verdict).values_list("pair", flat=True))


def pairs(cases: Iterable[Case]) -> set[int]:
    return {case.pair_id for case in cases}


def original(case: Case, value: int) -> None:
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "a file", {})
    Label.objects.create(pair=case.pair, annotator=by, value=value)


@pytest.mark.parametrize("asked", ["differs=original", "differs=any"])
def test_a_filter_by_differing_labels_tells_of_all_pairs_that_it_may_leave_out(
    asked: str, build: Build, ray: Client
) -> None:
    first, second = factories.cases(build)[:2]
    original(first, 0)
    original(second, 0)
    address = reverse("browse-build", args=[build.pk])
    ray.get(f"{address}?q=reverse")
    assert not seen(factories.ray())
    ray.get(f"{address}?{asked}")
    assert seen(factories.ray()) == pairs(factories.cases(build))


@pytest.mark.parametrize("asked", ["differs=experts", "tag=inverse"])
def test_a_filter_by_what_experts_said_tells_of_all_pairs_that_it_may_leave_out(
    asked: str, build: Build, ray: Client
) -> None:
    first = factories.cases(build)[0]
    review.store_label(factories.erin(), first, 0, "because", EVIDENCE, 0, Beside(["inverse"]))
    ray.get(reverse("browse-build", args=[build.pk]) + f"?{asked}")
    assert seen(factories.ray()) == pairs(factories.cases(build))


@pytest.mark.parametrize("name", ["query", "matches"])
def test_counts_of_a_query_tell_of_the_pairs_on_its_other_pages(
    name: str, build: Build, ray: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for page in (candidates, matches):
        monkeypatch.setattr(page, "PAGE_SIZE", 1)
    first, second, *alike = factories.cases(build)[:4]
    ray.get(reverse(name, args=[build.pk, first.query_id]))
    assert seen(factories.ray()) == {first.pair_id}
    ray.get(reverse(name, args=[build.pk, alike[0].query_id]))
    assert seen(factories.ray()) == pairs([first, *alike]) and second.pair_id not in pairs(alike)


def test_a_list_of_queries_without_a_match_tells_of_all_pairs(ada: Client) -> None:
    build = filling.source(matched=1)
    ada.get(reverse("build-missing", args=[build.pk]))
    assert seen(factories.ada()) == pairs(factories.cases(build))


def address(name: str, job: Filling) -> str:
    """A page that tells that the first query of the job has no match."""
    first = job.proposals.order_by("pk")[0]
    if name.startswith(("written", "build-written")):
        function_decisions.decide_proposal(factories.erin(), first, ProposalChoice("accept"), 0)
    return {
        "listed": reverse("proposals-listed", args=[job.pk]),
        "one": reverse("proposal", args=[first.pk]),
        "build-written": reverse("build-written", args=[job.of_id]),
        "functions": f"/api/builds/{job.of_id}/functions",
        "of the job": f"/api/builds/{job.build_id}/functions",
        "function": f"/api/functions/{first.pk}",
        "written": f"/api/builds/{job.of_id}/written",
    }[name]


@pytest.mark.parametrize(
    "name", ["listed", "one", "build-written", "functions", "of the job", "function", "written"]
)
def test_that_a_function_was_written_tells_that_its_query_has_no_match(name: str, erin: Client) -> None:
    job = filling.checked()
    first = job.proposals.select_related("case").order_by("pk")[0]
    assert first.case is not None
    answer = erin.get(address(name, job))
    assert answer.status_code == 200
    answer.getvalue()
    of_query = factories.cases(job.of)
    told = pairs(case for case in of_query if case.query_id == first.query_id) | {first.case.pair_id}
    found = seen(factories.erin())
    assert told <= found
    if name in {"listed", "functions", "of the job"}:
        assert pairs(of_query) <= found


@pytest.mark.parametrize("name", ["pin", "pin-download"])
def test_a_pin_of_two_builds_tells_of_queries_whose_pairs_all_moved_one_way(name: str, ray: Client) -> None:
    second = judged("second", (0, 0, 0, 1, 0))
    pin = pin_two_builds(judged("first", (1, 1, 1, 0, 0)), second)
    ray.get(reverse(name, args=[pin.pk]))
    assert seen(factories.ray()) == pairs(factories.cases(second)[:3])


def test_pins_of_other_figures_tell_of_no_pair(ray: Client) -> None:
    pin = pin_two_builds(judged("first", (1, 0)), judged("second", (1, 1)))
    ray.get(reverse("pin", args=[pin.pk]))
    assert not seen(factories.ray())


def test_a_copy_of_the_agents_test_is_their_test(erin: Client) -> None:
    case = factories.examined(factories.cases(factories.opened())[0], 1)
    erin.get(reverse("review-test", args=[case.pk]))
    assert seen(factories.erin(), verdict=False) == {case.pair_id}
    erin.get(reverse("review-case", args=[case.pk]))
    assert seen(factories.erin()) == {case.pair_id}


def test_an_editor_that_begins_empty_tells_nothing(erin: Client, build: Build) -> None:
    erin.get(reverse("review-test", args=[factories.cases(build)[0].pk]))
    assert not Seen.objects.exists()


@pytest.mark.parametrize("asked", ["label=0", "outcome=failed", "sort=information", "smart=agents_disagree"])
def test_sharing_a_list_tells_of_all_pairs_that_its_filter_may_leave_out(
    asked: str, build: Build, ada: Client
) -> None:
    address = reverse("review-list-share", args=[build.pk])
    ada.get(f"{address}?q=reverse")
    assert not seen(factories.ada())
    ada.get(f"{address}?{asked}")
    assert seen(factories.ada()) == pairs(factories.cases(build))
