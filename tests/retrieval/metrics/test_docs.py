"""docs/metrics.md names every measure, and its figures are what the measures give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from retrieval.evaluation.runs.system_run import DEFAULT_MEASURES as DEFAULT
from retrieval.filters import TEXT_OPTIONS
from retrieval.metrics.names import FAMILIES, describe_measure_names, parse_measure
from retrieval.metrics.ncs import mean_reciprocal_rank
from retrieval.metrics.ranking import Distractors, Ranking

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "metrics.md").read_text()
EXAMPLE = Ranking(
    [0, 3, None, 1, 2, 0],
    [0, 3, 1, 2, 0, 1],
    groups="abcbde",
    distractors={20_604: Distractors([True, False, True, False, False, False], 999)},
)
ROWS = re.findall(
    r"^\| `([a-z_]+)(\[?@k\]?|\[:seed\])?` \| .+? \| `([a-z_@0-9]+)`: (.+?) \|", TEXT, re.MULTILINE
)


def test_every_measure_stands_in_the_table_as_it_is_written() -> None:
    assert len(ROWS) == len(FAMILIES)
    assert {name + cut for name, cut, *_ in ROWS} == set(describe_measure_names().split(", "))


@pytest.mark.parametrize(("family", "asked", "sum_shown"), [(row[0], row[2], row[3]) for row in ROWS])
def test_the_example_is_what_the_measure_gives(family: str, asked: str, sum_shown: str) -> None:
    assert asked.split("@")[0] == family
    value = parse_measure(asked).score(EXAMPLE)
    assert value is not None
    assert sum_shown.endswith(f"{value:.4f}")


def test_every_text_option_and_default_metric_is_named() -> None:
    for option in TEXT_OPTIONS:
        assert f"`{option.replace(' ', '_')}`" in TEXT
    named = TEXT.split("without `--metrics` ")[1].split("\n\n")[0]
    assert all(
        f"{'@' + one.partition('@')[2] if '@' in one else one}`" in named for one in DEFAULT.split(",")
    )


def test_sums_by_hand() -> None:
    assert f"{mean_reciprocal_rank([1, None, 5, 6, 11]):.4f}" == "0.2915"


def test_modules_that_it_names_are_there() -> None:
    table = TEXT.split("## Figures over many queries")[1].split("**FRank")[0]
    modules = re.findall(r"\| `(\w+)[.\w]*` \|", table)
    assert len(modules) == 8
    assert [name for name in modules if not (ROOT / "retrieval" / "metrics" / f"{name}.py").exists()] == []
