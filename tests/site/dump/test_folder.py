"""A dump never replaces anything, and what was not finished goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cosqa_site.dump.folder import BadFolder, find_new_folder, stage_folder


def test_a_folder_that_is_not_there_or_empty_is_taken(tmp_path: Path) -> None:
    assert find_new_folder(str(tmp_path / "new")) == tmp_path / "new"
    (tmp_path / "empty").mkdir()
    assert find_new_folder(str(tmp_path / "empty")) == tmp_path / "empty"


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "note").touch()
    with pytest.raises(BadFolder, match="is not empty: name a new folder"):
        find_new_folder(str(tmp_path))


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "note").touch()
    with pytest.raises(BadFolder, match="is a file"):
        find_new_folder(str(tmp_path / "note"))


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "line\nline", "\x1b[2J", "\udcff", "\u202egnp"])
def test_names_that_can_not_be_shown_are_refused(name: str) -> None:
    with pytest.raises(BadFolder, match="no name for a folder"):
        find_new_folder(name)


def test_the_folder_is_there_once_it_is_whole(tmp_path: Path) -> None:
    with stage_folder(tmp_path / "far" / "new") as stage:
        (stage / "rows").write_text("all")
        assert not (tmp_path / "far" / "new").exists()
    assert (tmp_path / "far" / "new" / "rows").read_text() == "all"
    assert (tmp_path / "far" / "new").stat().st_mode & 0o077 == 0


def test_nothing_stays_of_what_failed(tmp_path: Path) -> None:
    def stop() -> None:
        with stage_folder(tmp_path / "new") as stage:
            (stage / "rows").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_somebody_filled_meanwhile_is_left_alone(tmp_path: Path) -> None:
    def write() -> None:
        with stage_folder(tmp_path / "new") as stage:
            (stage / "rows").write_text("ours")
            (tmp_path / "new").mkdir()
            (tmp_path / "new" / "rows").write_text("theirs")

    with pytest.raises(OSError, match="not empty"):
        write()
    assert [path.read_text() for path in tmp_path.rglob("rows")] == ["theirs"]
