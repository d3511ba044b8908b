"""Trainings from texts to a folder: the encoder that comes of it, kills, refusals."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.encoders import DenseEncoder, MissingWeights, find_encoder, why_missing
from retrieval.encoders.baselines.baseline_files import BASELINES
from retrieval.training.run import CannotTrain, TrainingOrder, train_system
from retrieval.training.settings import Settings
from tests.retrieval.training.child import CHECKPOINT_STEPS, SETTINGS
from tests.retrieval.training.conftest import QUERIES, SNIPPETS, make_data

REPOSITORY = Path(__file__).resolve().parents[3]
SCRATCH = Settings(
    epochs=2, batch_size=4, learning_rate=0.01, loss="margin", select_by="mrr in batches", vocabulary=300
)


def say_nothing(stage: str, done: int, total: int) -> None:
    pass


def train(folder: Path, system: str = "nbow", settings: Settings = SCRATCH, **order: Any) -> dict[str, Any]:
    return train_system(make_data(), TrainingOrder(system, settings, folder, **order), say_nothing)


def weights_of(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


@pytest.mark.parametrize("system", BASELINES)
def test_a_baseline_becomes_an_encoder_that_reads_a_text_the_same_beside_any_other(
    system: str, tmp_path: Path
) -> None:
    told = train(tmp_path / "new", system)
    encoder = find_encoder(f"{system}:{tmp_path / 'new'}")
    assert isinstance(encoder, DenseEncoder)
    vectors = encoder.encode([*SNIPPETS, "x", ""], "snippet")
    assert vectors.shape == (len(SNIPPETS) + 2, encoder.dimension) == (14, 128)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(encoder.encode(["x"], "snippet")[0], vectors[12], atol=1e-5)
    assert told["result"]["test"]["queries"] == 2
    assert set(told["result"]["test"]["rows"]) == {"after training", "bm25"}, "random weights are no row"
    assert told["start"] == "random weights"


def test_what_the_card_says_of_test_queries_is_what_the_encoder_finds(tmp_path: Path) -> None:
    told = train(tmp_path, settings=replace(SCRATCH, epochs=5))
    encoder = find_encoder(f"nbow:{tmp_path}")
    assert isinstance(encoder, DenseEncoder)
    products = encoder.encode(QUERIES[10:], "query") @ encoder.encode(SNIPPETS, "snippet").T
    ranks = [1 + int((row > row[place]).sum()) for place, row in enumerate(products, 10)]
    assert told["result"]["test"]["rows"]["after training"]["mrr"] == pytest.approx(
        np.mean([1 / rank for rank in ranks])
    )
    assert json.loads((tmp_path / "training.json").read_text()) == told
    assert "MIT: 8 pairs" in (tmp_path / "README.md").read_text()


def test_the_best_epoch_is_kept_and_patience_ends_the_training(tmp_path: Path) -> None:
    told = train(tmp_path, settings=replace(SCRATCH, epochs=50, patience=2))
    values = [entry["mrr in batches"] for entry in told["result"]["dev"]]
    assert told["result"]["best"] == values.index(max(values))
    assert told["result"]["stopped"] == "by patience"
    assert len(values) == told["result"]["best"] + 1 + 2


def test_loss_falls_and_its_curve_ends_with_the_last_step(tmp_path: Path) -> None:
    result = train(tmp_path, settings=replace(SCRATCH, epochs=10))["result"]
    points = result["loss"]
    assert points[-1][0] == result["steps"] == result["planned_steps"] == 20
    assert points[-1][1] < points[0][1]


def test_one_seed_gives_the_same_weights_and_another_one_others(tmp_path: Path) -> None:
    for name, seed in {"a": 1, "b": 1, "c": 2}.items():
        train(tmp_path / name, settings=replace(SCRATCH, seed=seed))
    assert weights_of(tmp_path / "a") == weights_of(tmp_path / "b") != weights_of(tmp_path / "c")


def test_without_dev_queries_the_last_epoch_is_kept(tmp_path: Path) -> None:
    told = train_system(make_data(dev=0), TrainingOrder("nbow", SCRATCH, tmp_path), say_nothing)
    assert told["result"]["best"] is None
    assert why_missing(f"nbow:{tmp_path}") is None


def test_a_kill_and_a_resume_give_the_weights_of_a_run_that_nothing_stopped(
    tmp_path: Path, tiny_minilm: Path
) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-m", "tests.retrieval.training.child", str(tiny_minilm), str(killed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "waiting\n"
        child.kill()
    left = {path.name for path in (killed / "training").glob("checkpoint-*")}
    assert left == {"checkpoint-3", "checkpoint-4"}, "of two kept ones the last is of step 4"
    (killed / "training" / "checkpoint-5").mkdir()  # what a kill amid writing leaves
    resumed = train(
        killed, f"minilm:{tiny_minilm}", SETTINGS, checkpoint_steps=CHECKPOINT_STEPS, resumes=True
    )
    straight = train(whole, f"minilm:{tiny_minilm}", SETTINGS, checkpoint_steps=CHECKPOINT_STEPS)
    assert weights_of(killed) == weights_of(whole) != weights_of(tiny_minilm)
    for name in ("dev", "loss", "best", "steps"):
        assert resumed["result"][name] == straight["result"][name]
    assert not (killed / "training").exists()


def test_a_finished_training_is_read_again_and_another_one_refused(tmp_path: Path) -> None:
    first = train(tmp_path)
    before = weights_of(tmp_path)
    assert train(tmp_path, resumes=True) == first
    assert weights_of(tmp_path) == before
    with pytest.raises(CannotTrain, match="add --resume"):
        train(tmp_path)
    with pytest.raises(CannotTrain, match="has another training"):
        train(tmp_path, settings=replace(SCRATCH, seed=9), resumes=True)


def test_a_training_that_time_stopped_goes_on(tmp_path: Path) -> None:
    stopped = train(tmp_path, settings=replace(SCRATCH, epochs=4), minutes=1e-9)
    assert stopped["result"]["stopped"] == "by time"
    assert stopped["result"]["steps"] == 1
    whole = train(tmp_path, settings=replace(SCRATCH, epochs=4), resumes=True)
    assert (whole["result"]["stopped"], whole["result"]["steps"]) == ("", 8)


@pytest.mark.parametrize(
    ("system", "told"),
    [
        ("bm25", "can't be trained here"),
        ("codet5p-unmasked", "can't be trained"),
        ("nbow:/tmp", "random weights"),
    ],
)
def test_a_system_that_can_not_be_trained_is_refused(system: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(CannotTrain, match=told):
        train(tmp_path, system)


def test_a_baseline_without_a_folder_or_with_another_s_is_refused(tmp_path: Path) -> None:
    assert "train it with" in str(why_missing("nbow"))
    assert "config.json is missing" in str(why_missing(f"nbow:{tmp_path}"))
    train(tmp_path)
    assert "has a nbow" in str(why_missing(f"cnn:{tmp_path}"))
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(MissingWeights, match="describes no baseline"):
        find_encoder(f"nbow:{tmp_path}").locate()  # type: ignore[union-attr]
