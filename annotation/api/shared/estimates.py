"""An estimate as the API says it."""

from __future__ import annotations

from decimal import Decimal

from annotation.builds.launch.estimates.confirmation import load_launch_estimate
from annotation.builds.launch.estimates.figures import Estimate, Range, StageEstimate
from annotation.models import Build
from annotation.models.builds.build import NANO
from annotation.schemas.shared.estimates import EstimateFigures, RangeOut, StageOut


def kept_out(build: Build) -> EstimateFigures | None:
    """The estimate that the build was launched on; None where there is none, or none that can be read."""
    found = load_launch_estimate(build)
    return None if found is None else figures_out(found)


def figures_out(found: Estimate) -> EstimateFigures:
    total = StageEstimate("total", found.calls, found.input_tokens, found.output_tokens, found.cost)
    return EstimateFigures.of(
        found, stages=[stage_out(stage) for stage in found.stages], total=stage_out(total)
    )


def stage_out(stage: StageEstimate) -> StageOut:
    return StageOut(
        stage=stage.stage,
        calls=range_out(stage.calls),
        input_tokens=range_out(stage.input_tokens),
        output_tokens=range_out(stage.output_tokens),
        dollars=None if stage.cost is None else range_out(stage.cost, NANO),
    )


def range_out(found: Range, parts: int = 1) -> RangeOut:
    """Whole numbers, or the `parts` that one is made of as a fraction of it."""

    def told(figure: float) -> Decimal:
        return Decimal(f"{Decimal(round(figure)) / parts:f}")

    return RangeOut(low=told(found.low), expected=told(found.expected), high=told(found.high))
