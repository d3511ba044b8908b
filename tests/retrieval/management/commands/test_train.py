"""`manage.py train` from a published benchmark to a system that is scored."""

from __future__ import annotations

import importlib.util
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from tqdm import tqdm

from retrieval.management.commands.train import advance
from tests.retrieval.exporting.conftest import benchmark
from tests.retrieval.training.test_benchmark_data import make_benchmark

pytestmark = pytest.mark.django_db
QUICK = ("--epochs", "2", "--batch-size", "8", "--seed", "5")


def test_a_trained_system_is_scored_by_the_name_that_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    settings.COSQA_HOME = tmp_path
    name = str(make_benchmark())
    call_command("train", name, "--system", "nbow", *QUICK)
    printed = capsys.readouterr().out.strip().splitlines()
    assert printed[0].startswith("nbow learned 16 pairs in 2.0 epochs")
    system = printed[-1].removeprefix("evaluate BENCHMARK --encoder ")
    call_command("evaluate", name, "--encoder", system, "--metrics", "mrr", "--json")
    scored = capsys.readouterr()
    assert 0 < json.loads(scored.out)[system]["mrr"] <= 1
    assert f"{system}: it was trained with 18 queries and 16 functions of {name}" in scored.err
    unknown = str(benchmark())
    call_command("evaluate", unknown, "--encoder", system, "--metrics", "mrr", "--json")
    assert "trained with" not in capsys.readouterr().err


def test_json_has_the_card_and_a_control_says_that_labels_were_shuffled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = make_benchmark()
    out = ["--out", str(tmp_path / "new"), "--shuffle-labels", "--pairs", "10", "--json"]
    call_command("train", str(made), "--system", "nbow", *QUICK, *out)
    told = json.loads(capsys.readouterr().out)
    assert (told["pairs"], told["settings"]["seed"], told["settings"]["shuffles_labels"]) == (10, 5, True)
    assert told["data"]["digest"] == made.digest
    assert told["folder"] == str(tmp_path / "new")
    assert "labels were shuffled" in (tmp_path / "new" / "README.md").read_text()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["nothing", "--system", "nbow"], "There is no benchmark 'nothing'"),
        (["nothing", "--system", "bm25"], "bm25 can't be trained here; choose minilm"),
        (["nothing", "--system", "word2vec"], "no encoder is called 'word2vec'"),
        (["nothing", "--system", "nbow", "--epochs", "0"], "epochs has to be at least 1"),
        (["nothing", "--system", "codebert:/nowhere"], "/nowhere is not a folder"),
    ],
)
def test_what_can_not_be_done_is_told_in_a_line(given: list[str], told: str) -> None:
    with pytest.raises(CommandError, match=told):
        call_command("train", *given)


def test_without_torch_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for system in ("nbow", "codebert"):
        with pytest.raises(CommandError, match=r"pip install 'cosqa-workbench\[encoders\]'"):
            call_command("train", "any", "--system", system)


def test_each_stage_of_the_bar_counts_from_its_own_beginning() -> None:
    with tqdm(file=io.StringIO(), unit="") as bar:
        advance(bar, "reading functions", 4000, 5000)
        assert (bar.n, bar.total, bar.desc) == (4000, 5000, "reading functions: ")
        advance(bar, "splitting", 0, 0)
        assert (bar.n, bar.total) == (0, None), "nobody knows how long that takes"
        began = bar.start_t
        advance(bar, "training", 3, 40)
        advance(bar, "training", 4, 40)
        assert (bar.n, bar.total) == (4, 40) and bar.start_t > began
