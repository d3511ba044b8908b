"""Given pairs to judge: a small file of them, and a build of its pairs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotation.builds.launch import launcher
from annotation.builds.launch.order import Judge, Order
from annotation.jobs import worker
from annotation.models import Build
from retrieval.given_pairs import Wanted, of_file
from retrieval.models import PairList
from tests import factories

ROWS: Sequence[dict[str, Any]] = (
    {"idx": "dev-0", "doc": "sort a list", "code": "def f(x):\n    return sorted(x)", "label": 1},
    {"idx": "dev-1", "doc": "read a file", "code": "def g(path):\n    return open(path).read()", "label": 1},
    {"idx": "dev-2", "doc": "sort a list", "code": "def h(x):\n    return x", "label": 0},
    {"idx": "dev-3", "doc": "add numbers", "code": "def f(x):\n    return sorted(x)", "label": 0},
    {"idx": "dev-4", "doc": "parse json", "code": "def p(t):\n    return json.loads(t)", "label": None},
)
"""As CoSQA's own: three queries have a label, one of them two; the fourth has none."""


def json_file(folder: Path, rows: Sequence[Any] = ROWS, name: str = "dev.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(list(rows)), "utf-8")
    return path


def pair_list(folder: Path, rows: Sequence[Any] = ROWS, name: str = "dev") -> PairList:
    return of_file(Wanted(json_file(folder, rows), name)).pairs


def build(pairs: PairList, name: str = "audit", judge: Judge = Judge.AGENTS) -> Build:
    """A build whose cases are open."""
    order = Order(name, pairs.queries, pairs.snippets, (), given=pairs, annotator=judge, model="small-model")
    made = launcher.launch_build(order, factories.ada())
    worker.look_after(made)
    return Build.objects.select_related("tally", "annotator", "pair_list__benchmark").get(pk=made.pk)


def judged(pairs: PairList, *labels: int | None, name: str = "audit", judge: Judge = Judge.AGENTS) -> Build:
    """One whose pairs, by query and place, got these labels; None: abandoned."""
    return factories.said(build(pairs, name, judge), labels)
