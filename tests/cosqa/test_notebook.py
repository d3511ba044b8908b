"""docs/notebook.ipynb prints what it shows, cell by cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.packages import share

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebook.ipynb"


def test_every_cell_prints_what_is_shown_below_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    share(tmp_path)
    monkeypatch.setenv("COSQA_HOME", str(tmp_path))
    names: dict[str, Any] = {}
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 3
    for cell in cells:
        exec("".join(cell["source"]), names)
        shown = "".join(line for output in cell["outputs"] for line in output["text"])
        assert capsys.readouterr().out == shown != ""
