"""The real CoSQA files as lists; where they are is the fixture `real_data` of tests/conftest.py."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class RealQuery:
    """A CoSQA query and the index of its one labelled function."""

    text: str
    gold: int


@pytest.fixture(scope="session")
def cosqa_functions(real_data: Path) -> list[str]:
    """The 6,267 functions of the CoSQA code base, by index."""
    indices: dict[str, int] = json.loads((real_data / "cosqa" / "code_idx_map.txt").read_text("utf-8"))
    return sorted(indices, key=indices.__getitem__)


@pytest.fixture(scope="session")
def cosqa_queries(real_data: Path) -> list[RealQuery]:
    """The 500 queries of the retrieval development set."""
    records = json.loads((real_data / "cosqa" / "cosqa-retrieval-dev-500.json").read_text("utf-8"))
    return [RealQuery(record["doc"], record["retrieval_idx"]) for record in records]
