"""The real CoSQA functions as a list; where they are is the fixture `real_data` of tests/conftest.py."""

import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cosqa_functions(real_data: Path) -> list[str]:
    """The 6,267 functions of the CoSQA code base, by index."""
    indices: dict[str, int] = json.loads((real_data / "cosqa" / "code_idx_map.txt").read_text("utf-8"))
    return sorted(indices, key=indices.__getitem__)
