"""A training that stops at a step and waits to be killed: `python -m … MODEL FOLDER`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch

from retrieval.training.run import TrainingOrder, train_system
from retrieval.training.settings import Settings
from tests.retrieval.training.conftest import make_data

SETTINGS = Settings(epochs=3, batch_size=3, learning_rate=1e-3, masks_matches=True, hard_negatives=1)
"""Nine steps: three an epoch."""
CHECKPOINT_STEPS = 2
LAST_STEP = 5
"""In the second epoch; the checkpoint before it is of step 4."""


def stop_at_last_step(stage: str, done: int, total: int) -> None:
    if stage == "training" and done == LAST_STEP:
        sys.stdout.write("waiting\n")
        sys.stdout.flush()
        time.sleep(600)


def main() -> None:
    torch.set_num_threads(1)
    order = TrainingOrder(
        f"minilm:{sys.argv[1]}", SETTINGS, Path(sys.argv[2]), checkpoint_steps=CHECKPOINT_STEPS
    )
    train_system(make_data(), order, stop_at_last_step)


if __name__ == "__main__":
    main()
