"""`bench extraction`: functions of a source tree, counted, beside the bare parse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from retrieval.sources.code import places

SOURCE = '''def total(prices, rate):
    """Add up the prices of a month."""
    sum = rate * prices
    return sum


def bare(x):
    return x
'''


def test_it_counts_functions_and_megabytes_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(30):
        (tmp_path / f"part{number}.py").write_text(SOURCE * 100)
    found = list(places.iterate_source_files(tmp_path))
    monkeypatch.setattr("bench.mining.extraction.places.iterate_source_files", lambda place: iter(found))
    call_command("bench", "extraction", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["functions"], told["documented"]) == (6_000, 3_000)
    assert told["megabytes"] == round(len(SOURCE) * 3_000 / 1e6, 1)
    assert told["mb_per_second"] > 0 and 0 < told["ratios"]["of_bare_parsing"] < 1.5
