"""The sandbox as a notebook has it, and the names that `cosqa` gives."""

from __future__ import annotations

from pathlib import Path

import pytest

import cosqa
from cosqa import Sandbox, application
from sandbox.runner import SandboxUnavailable
from tests.packages import shared

DOUBLE = "def double(x):\n    return x + x\n"


def test_a_program_and_an_expression_run() -> None:
    with Sandbox("bubblewrap", shared()) as sandbox:
        assert sandbox.run(DOUBLE, "assert double('a') == 'aa'\n").outcome == "passed"
        assert sandbox.run(DOUBLE, "assert double('a') == 'a'\n").outcome == "failed"
        assert sandbox.call(DOUBLE, "double(4)").value == "8"


def test_where_none_opens_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="switched off"):
        Sandbox("none", tmp_path)


def test_every_name_is_there_and_another_is_not() -> None:
    for name in cosqa.__all__:
        assert getattr(cosqa, name).__name__ == name
    assert set(cosqa.__all__) <= set(dir(cosqa))
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        cosqa.scores  # noqa: B018


def test_data_lie_where_the_settings_have_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: object
) -> None:
    monkeypatch.setenv("COSQA_HOME", str(tmp_path))
    assert application.find_data_folder() == tmp_path
    monkeypatch.delenv("COSQA_HOME")
    assert application.find_data_folder() == settings.BASE_DIR / "var"  # type: ignore[attr-defined]
    monkeypatch.setattr(application, "find_application", lambda: tmp_path / "_app")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert application.find_data_folder() == tmp_path / "data" / "cosqa"


def test_an_installed_package_has_its_data_where_the_platform_has_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from cosqa_site import settings as module

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert module.default_data_folder() == module.BASE_DIR / "var"
    monkeypatch.setattr(module, "IS_INSTALLED", True)
    assert module.default_data_folder() == tmp_path / "cosqa"
