"""Who gets a pair on which the planned raters part."""

from __future__ import annotations

import pytest

from annotation.models import Quota
from annotation.studies.queueing import next_assignment
from annotation.studies.routing import has_majority, route_disagreements
from tests import studies

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("values", "has"),
    [
        ([1, 1, 0], True),
        ([1, 0], False),
        ([2, 1, 0], False),
        ([1, None, None], False),
        ([1, 1, None], True),
        ([None, None, None], False),
        ([], False),
    ],
)
def test_a_majority_is_more_than_half(values: list[int | None], has: bool) -> None:
    assert has_majority(values) is has


def test_a_split_goes_once_to_somebody_who_has_not_seen_the_pair() -> None:
    study = studies.study(raters=2)
    raters = [studies.rater(name, study) for name in ("rita", "rolf", "rosa")]
    one, two, three = study.pairs.order_by("number")
    for pair, said in ((one, (1, 0)), (two, (1, 1)), (three, (0, 0))):
        for rater, value in zip(raters, said, strict=False):
            studies.rated(rater, value, pair)
    assert [next_assignment(rater) for rater in raters] == [None] * 3
    assert all(rater.finished_at for rater in raters)
    assert (route_disagreements(study), route_disagreements(study)) == (1, 0)
    assert Quota.objects.get(study_pair=one).wanted == 3
    for rater in raters:
        rater.refresh_from_db()
    assert [rater.finished_at is None for rater in raters] == [False, False, True]
    routed = next_assignment(raters[2])
    assert routed is not None
    assert routed.study_pair == one
