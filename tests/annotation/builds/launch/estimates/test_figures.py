"""Estimates as values: what two of them come to together."""

from __future__ import annotations

from django.utils import timezone

from annotation.builds.launch.estimates.figures import Estimate, Range, StageEstimate


def stage(name: str, calls: float) -> StageEstimate:
    one = Range.of(calls)
    return StageEstimate(name, one, one * Range.of(10), one, None)


def estimate(*stages: StageEstimate) -> Estimate:
    return Estimate(
        pairs=5,
        queries=1,
        candidates=5,
        stages=stages,
        price=None,
        basis=(),
        made_at=timezone.now(),
    )


def test_a_stage_that_only_one_of_two_estimates_expects_is_kept() -> None:
    whole = estimate(stage("screening", 5), stage("neighbour_writer", 2))
    clear = estimate(stage("screening", 5))
    together = whole.plus(clear)
    assert together.pairs == 10  # 5 + 5
    assert [(one.stage, one.calls.expected) for one in together.stages] == [
        ("screening", 10),
        ("neighbour_writer", 2),
    ]
    assert [(one.stage, one.calls.expected) for one in clear.plus(whole).stages] == [
        ("screening", 10),
        ("neighbour_writer", 2),
    ]
