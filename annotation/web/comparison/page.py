"""The page that sets two builds side by side over their common pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from django.db.models import QuerySet

from annotation.builds.results.build_comparison import (
    LABELS,
    BuildComparison,
    Judged,
    Took,
    compare_two_builds,
    settings_that_differ,
)
from annotation.builds.results.label_comparison import LabelComparison, load_query_texts
from annotation.builds.results.position_bias import get_position_bias
from annotation.models import Build
from annotation.models.builds.build import NANO
from annotation.review.worklists.order import Flipped
from annotation.web.shared.words import format_percent, label_sign
from retrieval.metrics.resampling import FEW
from retrieval.models import Annotator

LONGEST_SETTING: Final = 200
NO_FIGURE: Final = "–"
FIGURES: Final[tuple[tuple[str, str, Callable[[Took, int], str]], ...]] = (
    ("Cost of its calls", "whichever build paid", lambda took, pairs: f"${took.cost / NANO:,.4f}"),
    ("Cost a pair", "", lambda took, pairs: format_mean(took.cost / NANO, pairs, "${:,.6f}")),
    ("Calls", "", lambda took, pairs: f"{took.calls:,}"),
    ("Tokens in", "", lambda took, pairs: f"{took.input_tokens:,}"),
    ("Tokens out", "", lambda took, pairs: f"{took.output_tokens:,}"),
    (
        "Waiting for the model, a pair",
        "seconds, all calls of a pair together",
        lambda took, pairs: format_mean(took.asking_seconds, pairs, "{:,.1f}"),
    ),
    ("Test programs", "", lambda took, pairs: f"{took.programs:,}"),
    ("Executable", "of the programs", lambda took, pairs: format_percent(took.ran, took.programs)),
    ("Second tests", "because the first test proved nothing", lambda took, pairs: f"{took.second_tests:,}"),
    (
        "Second tests that used the function",
        "of the second tests",
        lambda took, pairs: format_second_tests(took),
    ),
    (
        "Cost of writing second tests",
        "whichever build paid",
        lambda took, pairs: f"${took.second_cost / NANO:,.4f}",
    ),
    (
        "Running tests, a program",
        "seconds",
        lambda took, pairs: format_mean(took.running_seconds, took.programs, "{:,.2f}"),
    ),
)
"""Name, note, and how it is written of a side that has so many common pairs with the other."""
OF_SECOND_TESTS: Final = {"Second tests that used the function", "Cost of writing second tests"}
FigureRow = tuple[str, str, str, str]
"""A figure of both sides: its name, what it is of the first and of the second, and a note."""


def comparison_page(visible: QuerySet[Build], first: int, second: int) -> dict[str, Any]:
    """The page for two builds by their ids; -1 for one that is not chosen.

    `found` is None until two different builds are chosen; `problem` says what is wrong with a choice.
    """
    builds = list(visible.filter(opened=True).select_related("tally", "annotator").order_by("-pk"))
    one, other = (next((build for build in builds if build.pk == pk), None) for pk in (first, second))
    page = {"builds": builds, "first": one, "second": other, "found": None, "few": FEW}
    if one is None or other is None:
        return page
    if one == other:
        return page | {"problem": "Choose two different builds."}
    found = compare_two_builds(one, other)
    return page | {
        "found": found,
        "matrix": build_label_matrix(found, partial(cases_of, found)),
        "flips": list(build_flip_rows(found)),
        "figures": list(build_comparison_figures(*found.took, found.pairs)),
        "settings": [
            (name, *("not set" if value is None else str(value)[:LONGEST_SETTING] for value in values))
            for name, values in settings_that_differ(one, other).items()
        ],
        "worklist": Flipped(one.pk),
        "worst": list(load_query_texts(found.worst)),
        "effects": [(side, told) for side in (one, other) if (told := get_position_bias(side)) is not None],
    }


def build_label_matrix(
    found: LabelComparison, link: Callable[[int | None, int | None], str] = lambda first, second: ""
) -> list[dict[str, Any]]:
    """What both said, three rows of three: match, no match, no label.

    `pairs` of a cell is None where nobody can say, as for pairs that nobody labelled; `link` is the query of
    its cases in the second build, empty where there are none to see.
    """
    return [
        {
            "sign": label_sign(first),
            "cells": [
                {
                    "sign": label_sign(second),
                    "pairs": found.count(first, second),
                    "is_flip": {first, second} == {0, 1},
                    "link": link(first, second),
                }
                for second in LABELS
            ],
        }
        for first in LABELS
    ]


def build_flip_rows(found: BuildComparison) -> Iterator[dict[str, Any]]:
    """Flips of one kind, by what decided on each side; the most frequent kind first."""
    for group in sorted(found.groups, key=lambda group: -group.pairs):
        if group.is_flip:
            link = cases_of(found, group.first.label, group.second.label)
            link += "&other_by=test" if group.first.tested else "&other_by=screener"
            link += "&reached=arbitrated" if group.second.tested else "&reached=clear"
            yield {
                "before": label_sign(group.first.label),
                "after": label_sign(group.second.label),
                "first": describe_label_decider(found.first, group.first),
                "second": describe_label_decider(found.second, group.second),
                "pairs": group.pairs,
                "link": link,
            }


def cases_of(found: BuildComparison, first: int | None, second: int | None) -> str:
    """The query of the second build's cases of the common pairs with these labels."""
    said = ("none" if label is None else str(label) for label in (first, second))
    return f"against={found.first.pk}&other={next(said)}&label={next(said)}"


def describe_label_decider(build: Build, judged: Judged) -> str:
    """Who gave the label, in words."""
    if build.annotator.kind == Annotator.Kind.SINGLE_LLM:
        return "the model alone"
    return "a test and the arbiter" if judged.tested else "the screener"


def build_comparison_figures(first: Took | None, second: Took | None, pairs: int) -> Iterator[FigureRow]:
    """What each side took over the common pairs; a dash for a side of which that is not known."""
    has_second_tests = any(took and took.second_tests for took in (first, second))
    for name, note, write in FIGURES:
        if has_second_tests or name not in OF_SECOND_TESTS:
            ours, theirs = (NO_FIGURE if took is None else write(took, pairs) for took in (first, second))
            yield name, ours, theirs, note


def format_mean(amount: float, number: int, form: str) -> str:
    """The amount for each of so many; a dash where there is none."""
    return form.format(amount / number) if number else NO_FIGURE


def format_second_tests(took: Took) -> str:
    part, whole = took.second_touched, took.second_tests
    return f"{part:,} ({format_percent(part, whole)})" if whole else NO_FIGURE
