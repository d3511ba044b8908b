"""The page that sets the labels of given pairs beside what builds and experts say of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urlencode

from django.core.cache import cache
from django.db.models import Max, QuerySet
from django.http import QueryDict

from annotation.abandonment import describe_abandonment_cause
from annotation.label_audit import Audit, AuditRow, Experts, Figures, How, audit_of, figures_of
from annotation.label_audit.figures import AuditCell, verdict_of_build
from annotation.models import Build
from annotation.web.shared.pagination import Menu, pick_menu_values, query_string, whole_number
from annotation.web.shared.words import ABANDONED, MATCH, NO_MATCH, Sign
from retrieval.metrics.resampling import FEW
from retrieval.models import Label, Pair

PAGE_SIZE: Final = 50
KEPT_SECONDS: Final = 3600
NO_LABEL: Final = Sign("–", "no label")
OPEN: Final = Sign("…", "open")
ONE_REVIEW: Final = Sign("?", "too few", "warn")
NOBODY: Final = Sign("–", "none")
HOW: Final = (("screener", "by the screener"), ("tested", "after a test"), ("alone", "by one model alone"))
MENUS: Final[Mapping[str, Menu]] = {
    "original": (("1", "match"), ("0", "no match"), ("none", "no label")),
    "said": (("1", "match"), ("0", "no match"), ("abandoned", "abandoned"), ("open", "open")),
    "how": HOW,
    "experts": (
        ("1", "match"),
        ("0", "no match"),
        ("few", "reviewed, but too few agree"),
        ("none", "not reviewed"),
    ),
    "differs": (("yes", "differ"), ("no", "all the same")),
}
SIGNS: Final[Mapping[str, Sign]] = {"1": MATCH, "0": NO_MATCH, "abandoned": ABANDONED, "open": OPEN}
EXPERT_SIGNS: Final[Mapping[str, Sign]] = {
    Experts.MATCH: MATCH,
    Experts.NO_MATCH: NO_MATCH,
    Experts.FEW: ONE_REVIEW,
    Experts.NONE: NOBODY,
}
BY_EXPERTS: Final = "experts"
GROUPS: Final = ("Upheld", *(f"Upheld, settled {word}" for _, word in HOW), "Could not be judged")
ANY_LABEL: Final[Mapping[int | None, str]] = {None: "all labels", 1: "“match”", 0: "“no match”"}


@dataclass(frozen=True, slots=True)
class Filters:
    """Which pairs are wanted; empty means all. `said` and `how` are of the page's build."""

    original: str = ""
    said: str = ""
    how: str = ""
    experts: str = ""
    differs: str = ""

    @property
    def query(self) -> str:
        return urlencode({name: value for name in self.__slots__ if (value := getattr(self, name))})


def audit_page(build: Build, visible: QuerySet[Build], params: QueryDict) -> dict[str, Any]:
    """The page with the pairs that `params` ask for. Raises StudyRefused, see `audit_of`."""
    audit, filters = audit_of(build, visible), Filters(**pick_menu_values(params, MENUS))
    figures = [load_cached_audit_figures(audit, place) for place in range(len(audit.builds))]
    wanted = sort_differing_first(row for row in audit.rows if is_kept_by_filters(row, filters))
    page, previous, following = slice_audit_window(wanted, params)
    return {
        "build": build,
        "given": audit.given,
        "builds": audit.builds,
        "is_open": any(not build.is_over for build in audit.builds),
        "filters": filters,
        "options": MENUS,
        "rows": list(pair_rows(page, audit.builds)),
        "count": len(wanted),
        "cross": list(cross_rows(figures[0])),
        "expert_signs": [EXPERT_SIGNS[experts] for experts in Experts],
        "rates": list(rate_rows(figures, audit.builds)),
        "figures": figures[0],
        "flips": sum(is_label_flipped(row) for row in audit.rows),
        "left_out": audit.left_out,
        "previous": previous,
        "next": following,
        "few": FEW,
    }


def load_cached_audit_figures(audit: Audit, place: int) -> Figures:
    """The figures of one of the builds, drawn once until a label or a case changes."""
    build = audit.builds[place]
    last = Label.objects.aggregate(last=Max("pk"))["last"]
    key = f"audit:{audit.given.pk}.{build.pk}.{build.created_at:%s%f}.{build.tally.version}.{last}"
    key += "".join(f".{name}" for name in audit.left_out).encode().hex()[:100]
    return cast(Figures, cache.get_or_set(key, lambda: figures_of(audit, place), KEPT_SECONDS))


def is_label_flipped(row: AuditRow) -> bool:
    """Whether the page's build says the other label than the original one."""
    verdict = row.verdicts[0]
    label = None if verdict is None else verdict.label
    return None not in {row.original, label} and label != row.original


def is_kept_by_filters(row: AuditRow, filters: Filters) -> bool:
    verdict = row.verdicts[0]
    original = "none" if row.original is None else str(row.original)
    return (
        filters.original in {"", original}
        and filters.said in {"", verdict_of_build(row, 0)}
        and filters.how in {"", str(verdict.how) if verdict else ""}
        and filters.experts in {"", str(row.experts)}
        and filters.differs in {"", "yes" if row.differs else "no"}
    )


def sort_differing_first(rows: Iterable[AuditRow]) -> list[AuditRow]:
    """The pairs that differ first, otherwise as they are."""
    return sorted(rows, key=lambda row: not row.differs)


def slice_audit_window(rows: Sequence[AuditRow], params: QueryDict) -> tuple[Sequence[AuditRow], str, str]:
    """The page after or before a pair, and the query strings of the pages around it; empty at an end."""
    places = {row.pair: place for place, row in enumerate(rows)}
    after = places.get(whole_number(params.get("after", "")))
    before = places.get(whole_number(params.get("before", "")))
    start = 0 if after is None else after + 1
    if before is not None:
        start = max(0, before - PAGE_SIZE)
    page = rows[start : start + PAGE_SIZE]
    previous = query_string(params, "before", page[0].pair) if page and start else ""
    following = query_string(params, "after", page[-1].pair) if len(rows) > start + PAGE_SIZE else ""
    return page, previous, following


def pair_rows(rows: Sequence[AuditRow], builds: Sequence[Build]) -> Iterator[dict[str, Any]]:
    """What the list shows, with the case whose page has the evidence. One query."""
    pairs = Pair.objects.select_related("query", "snippet").in_bulk([row.pair for row in rows])
    for row in rows:
        told = [build_audit_statement(row, place, build) for place, build in enumerate(builds)]
        yield {
            "row": row,
            "pair": pairs[row.pair],
            "original": sign_of(row.original),
            "told": told,
            "experts": EXPERT_SIGNS[row.experts],
            "case": next((verdict.case for verdict in row.verdicts if verdict), None),
        }


def build_audit_statement(row: AuditRow, place: int, build: Build) -> dict[str, Any]:
    """What a build says of a pair, and its case; no case beyond a limit."""
    verdict = row.verdicts[place]
    if verdict is None:
        return {"build": build, "sign": OPEN}
    how = (
        describe_abandonment_cause(verdict.cause)[0]
        if verdict.how is How.ABANDONED
        else dict(HOW).get(verdict.how, "")
    )
    return {"build": build, "sign": SIGNS[verdict.said], "case": verdict.case, "how": how}


def sign_of(label: int | None) -> Sign:
    return NO_LABEL if label is None else SIGNS[str(label)]


def cross_rows(figures: Figures) -> Iterator[dict[str, Any]]:
    """Original label × what the build says, with a column for each answer of experts; no empty rows.

    `query` are the filters that list the pairs of a cell.
    """
    for original in (1, 0, None):
        told = "none" if original is None else str(original)
        for value, sign in SIGNS.items():
            counts = {
                experts: figures.cells.get(AuditCell(original, value, experts), 0) for experts in Experts
            }
            if any(counts.values()):
                is_flip = {told, value} == {"0", "1"}
                cells = [
                    {
                        "experts": EXPERT_SIGNS[experts],
                        "pairs": count,
                        "query": Filters(told, value, "", str(experts)).query,
                        "is_flip": is_flip,
                    }
                    for experts, count in counts.items()
                ]
                yield {"original": sign_of(original), "said": sign, "cells": cells}


def rate_rows(figures: Sequence[Figures], builds: Sequence[Build]) -> Iterator[dict[str, Any]]:
    """Every rate that one of the builds has, by group; what experts uphold is a column of its own.

    `shares` are by the name of who upholds, None where there is none.
    """
    keys = dict.fromkeys((rate.what, rate.original, rate.by) for each in figures for rate in each.rates)
    for what, original, by in sorted(keys, key=lambda key: GROUPS.index(group_of(key[0], key[2]))):
        if by != BY_EXPERTS:
            shares = [
                (build.name, each.rate(what, original, by))
                for build, each in zip(builds, figures, strict=True)
            ]
            experts = figures[0].rate(what, original, BY_EXPERTS) if not by else None
            yield {
                "name": format_audit_name(what, original, by),
                "group": group_of(what, by),
                "shares": [*shares, ("Experts", experts)],
            }


def group_of(what: str, by: str) -> str:
    if what == "unjudged":
        return "Could not be judged"
    return f"Upheld, settled {dict(HOW)[by]}" if by in dict(HOW) else "Upheld"


def format_audit_name(what: str, original: int | None, by: str) -> str:
    if what == "unjudged" and by:
        return describe_abandonment_cause(by)[0]
    return "all pairs" if what == "unjudged" and original is None else ANY_LABEL[original]
