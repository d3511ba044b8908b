"""Twelve queries with a function each, and a tiny MiniLM; one thread, so that weights can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from retrieval.training.data import MeasuredPart, TrainingData, group_matches
from tests.retrieval.encoders.conftest import save_bert

VERBS = ("read", "write", "sort", "count", "join", "split", "open", "close", "merge", "draw", "send", "find")
QUERIES = [f"how to {verb} all rows of a table" for verb in VERBS]
SNIPPETS = [f"def {verb}_rows(table):\n    return [{verb}(row) for row in table]" for verb in VERBS]
PAIRS = [(place, place) for place in range(len(VERBS))]


def make_data(dev: int = 2) -> TrainingData:
    """Eight pairs to learn, then `dev` dev queries, and two test queries."""
    ends = 8, 8 + dev, 10 + dev
    train, asked, tested = PAIRS[: ends[0]], PAIRS[ends[0] : ends[1]], PAIRS[ends[1] : ends[2]]
    parts = [MeasuredPart([query for query, _ in pairs], group_matches(pairs)) for pairs in (asked, tested)]
    licences = {"MIT": len(train)}
    about = {
        "benchmark": "rows@1",
        "digest": "0" * 64,
        "text_option": "whole",
        "split": {
            "seed": 1,
            "by": "query",
            **{
                name: {"queries": len(pairs), "pairs": len(pairs)}
                for name, pairs in zip(("train", "dev", "test"), (train, asked, tested), strict=True)
            },
        },
        "without": {},
        "left_out": {"queries": 0, "snippets": 0},
        "licences": licences,
    }
    return TrainingData(
        QUERIES,
        SNIPPETS,
        list(range(len(SNIPPETS))),
        train,
        group_matches(train),
        {0: [11, 10]},
        parts[0],
        parts[1],
        about,
    )


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def tiny_minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    torch.manual_seed(20240612)
    folder = tmp_path_factory.mktemp("minilm")
    save_bert(folder)
    return folder
