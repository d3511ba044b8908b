"""By which rule raters are left out of every figure: the amendment that did it, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.models import Study


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Since which amendment a rater is left out, and the reason that was given for it."""

    amendment: int
    why: str


def exclusions(study: Study) -> dict[str, Exclusion]:
    """By pseudonym, of who is left out now: whoever was taken in again is not. One query."""
    found: dict[str, Exclusion] = {}
    for one in study.amendments.order_by("number"):
        for pseudonym in left_out(one.after) - left_out(one.before):
            found[pseudonym] = Exclusion(one.number, one.why)
        for pseudonym in left_out(one.before) - left_out(one.after):
            found.pop(pseudonym, None)
    return found


def left_out(plan: Mapping[str, Any]) -> set[str]:
    """The raters whom a plan leaves out."""
    raters = [one for condition in plan["conditions"] for one in condition["raters"]]
    return {str(one["pseudonym"]) for one in raters if one.get("excluded")}
