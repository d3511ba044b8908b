"""No two modules import each other, be it by way of others, or for their types alone.

The layers in `pyproject.toml` say which folder lies above which; this holds inside a folder as well. A name
that a package's `__init__` hands on counts as an import of the package: a module in it that takes the name
from there is in a circle. That Python runs a package's `__init__` before its modules is not counted.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from cosqa_site.settings import BASE_DIR

ROOMS = ("cosqa_site", "annotation", "retrieval", "sandbox")


def _imports_of(*rooms: str) -> dict[str, set[str]]:
    graph = grimp.build_graph(*rooms, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def _check_order(imports: dict[str, set[str]]) -> None:
    """Raises CycleError, whose second argument is a circle, where the modules have no order."""
    TopologicalSorter(imports).prepare()


def test_modules_of_all_rooms_have_no_circle() -> None:
    imports = _imports_of(*ROOMS)
    files = sum(1 for room in ROOMS for _ in (BASE_DIR / room).rglob("*.py"))
    assert len(imports) == files  # a folder without `__init__` would go unread
    _check_order(imports)


@pytest.mark.parametrize(
    "back",
    ["from shelf import low", "if TYPE_CHECKING:\n    import shelf.low", "def f():\n    import shelf.low"],
)
def test_circle_by_any_import_is_found(back: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "__init__.py").touch()
    (tmp_path / "shelf" / "low.py").write_text("from shelf.high import f\n")
    (tmp_path / "shelf" / "high.py").write_text(f"from typing import TYPE_CHECKING\n\n{back}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CycleError):
        _check_order(_imports_of("shelf"))


def test_name_that_a_module_takes_from_its_own_package_is_a_circle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "drawer").mkdir()
    (tmp_path / "drawer" / "__init__.py").write_text("from drawer.low import f\n\nMOST = 3\n")
    (tmp_path / "drawer" / "low.py").write_text("from drawer import MOST\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CycleError):
        _check_order(_imports_of("drawer"))
