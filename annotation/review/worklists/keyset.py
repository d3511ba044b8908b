"""Finds the rows after or before a given row, in the order of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q


def build_keyset_condition(order: Sequence[str], values: Mapping[str, Any], *, forward: bool) -> Q:
    """Rows that come after these values in `order`, or before them.

    What holds for the first column alone is said besides: from it databases know where to begin.
    """
    wanted, equal = Q(), Q()
    for name in order:
        field = name.lstrip("-")
        wanted |= equal & Q(**{f"{field}__{format_keyset_lookup(name, forward=forward)}": values[field]})
        equal &= Q(**{field: values[field]})
    first = order[0].lstrip("-")
    return Q(**{f"{first}__{format_keyset_lookup(order[0], forward=forward)}e": values[first]}) & wanted


def format_keyset_lookup(name: str, *, forward: bool) -> str:
    return "gt" if forward != name.startswith("-") else "lt"
