"""Two builds side by side over the API."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Build
from tests import factories
from tests.calls import get

pytestmark = pytest.mark.django_db


@pytest.fixture
def builds() -> tuple[Build, Build]:
    """Two builds over nine pairs: one agrees, one flips, one is settled on one side only."""
    first = factories.opened("first")
    second = factories.opened("second", annotator=factories.annotator(model="other"))
    for build, labels in ((first, (1, 0, 1)), (second, (1, 1))):
        for case, label in zip(factories.cases(build), labels, strict=False):
            factories.settled(case, label)
    return first, second


def test_figures_of_both_sides(ray: Client, builds: tuple[Build, Build]) -> None:
    first, second = builds
    found = get(ray, f"builds/{first.pk}/comparison/{second.pk}")

    assert {name: found[name] for name in ("pairs", "judged", "flips", "queries")} == {
        "pairs": 9,
        "judged": 2,
        "flips": 1,
        "queries": 1,
    }
    assert (found["agreement"]["value"], found["shift"]["value"]) == (0.5, 0.5)
    assert sum(group["pairs"] for group in found["groups"]) == 9
    assert [side["calls"] for side in found["took"]] == [3, 2]
    assert found["worst"][0]["query"]["head"] == factories.QUERIES[0]
    assert found["settings"] == {"model": ["small-model", "other"]}


def test_another_build_that_is_not_there_is_not_found(ray: Client, builds: tuple[Build, Build]) -> None:
    assert ray.get(f"/api/builds/{builds[0].pk}/comparison/999999").status_code == 404


def test_the_effect_of_places_is_told_where_candidates_were_screened_together(
    ray: Client, builds: tuple[Build, Build]
) -> None:
    assert get(ray, f"builds/{builds[0].pk}/place-effect") is None
    together = factories.opened("together", annotator=factories.annotator(screener="query", seed=3))
    for case in factories.cases(together)[:6]:
        factories.settled(case, 1)

    found = get(ray, f"builds/{together.pk}/place-effect")

    assert found["places"][0] == {"place": 1, "pairs": 2, "matches": 2, "unclear": 0}
    assert found["queries"] == 2
    assert found["matches"] == {"value": 0.0, "low": 0.0, "high": 0.0, "beyond_chance": False}
