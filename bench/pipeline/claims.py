"""What taking a case and moving it costs where few and where many cases are in the table."""

from __future__ import annotations

import statistics
import time
from typing import Final

from annotation.builds.pipeline import claims
from annotation.jobs.worker import HANDFUL
from annotation.stages import Event
from bench.measure.scratch_database import Scratch

HANDFULS: Final = 15
ROUNDS: Final = 7


def measure_claim_growth(few: Scratch, many: Scratch) -> dict[str, float]:
    """Milliseconds of claim and move for each case, and how they grow; in rounds that take turns."""
    times: dict[str, list[float]] = {"few": [], "many": []}
    for number in range(ROUNDS + 1):
        for name, scratch in (("few", few), ("many", many)):
            with scratch.entered():
                seconds = claim_and_move()
            if number:  # the first round fills caches
                times[name].append(seconds)
    medians = {name: statistics.median(found) for name, found in times.items()}
    ratio = statistics.median(many / few for few, many in zip(times["few"], times["many"], strict=True))
    told = {f"{name}_milliseconds": round(1000 * seconds, 3) for name, seconds in medians.items()}
    return {**told, "growth": round(ratio, 3)}


def claim_and_move() -> float:
    """Seconds a case. Raises RuntimeError where nothing is left to be claimed."""
    claims.release_claims(claims.claim_cases("llm", 1))
    moved, began = 0, time.perf_counter()
    for _ in range(HANDFULS):
        for case in claims.claim_cases("llm", HANDFUL["llm"]):
            moved += 1
            if case.stage == "screening":
                case.move(Event.UNCLEAR, note="not plain")
            else:
                case.move(Event.GAVE_UP, reason="the bench goes on", left_stage=case.stage)
    if not moved:
        raise RuntimeError("no case was left for the bench to claim")
    return (time.perf_counter() - began) / moved
