"""An estimate as the API says it."""

from __future__ import annotations

from decimal import Decimal

from annotation.estimating.confirming import kept, signed
from annotation.estimating.figures import Estimate, PriceUsed, Range, StageEstimate
from annotation.launching import Order
from annotation.models import Build
from annotation.models.builds import NANO
from annotation.schemas.estimates import BasisOut, EstimateFigures, EstimateOut, PriceOut, RangeOut, StageOut


def estimate_out(order: Order, found: Estimate) -> EstimateOut:
    """The estimate of `order`, with the word that confirms it."""
    return EstimateOut(**figures_out(found).dict(), confirm=signed(order, found))


def kept_out(build: Build) -> EstimateFigures | None:
    """The estimate that the build was launched on; None where there is none, or none that can be read."""
    found = kept(build)
    return None if found is None else figures_out(found)


def figures_out(found: Estimate) -> EstimateFigures:
    total = StageEstimate("total", found.calls, found.input_tokens, found.output_tokens, found.cost)
    return EstimateFigures(
        pairs=found.pairs,
        rounds=found.rounds,
        stages=[stage_out(stage) for stage in found.stages],
        total=stage_out(total),
        price=price_out(found.price),
        basis=[
            BasisOut(what=one.what, figure=one.figure, source=one.source, note=one.note)
            for one in found.basis
        ],
        made_at=found.made_at,
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


def price_out(price: PriceUsed | None) -> PriceOut | None:
    if price is None:
        return None
    return PriceOut(
        model=price.model,
        effective_from=price.effective_from,
        input=Decimal(price.input),
        output=Decimal(price.output),
        note=price.note,
        source=price.source,
    )
