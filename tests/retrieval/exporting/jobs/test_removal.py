"""Files of exports are kept for some days, and then removed with what was left half written."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from retrieval.exporting.jobs.order import ExportOrder, file_of
from retrieval.exporting.jobs.removal import kept_until, remove_old
from retrieval.models import Job
from tests import factories

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def job(state: str = "done", finished_at: datetime | None = None) -> Job:
    return factories.job(ExportOrder(format="beir"), 1, state=state, finished_at=finished_at)


def written(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("what was written")
    return path


def test_a_file_is_kept_for_its_days_and_no_longer(tmp_path: Path) -> None:
    now = timezone.now()
    done = job(finished_at=now)
    file = written(file_of(tmp_path, done))
    assert kept_until(done, 7) == now + 7 * DAY
    assert remove_old(tmp_path, 7, now + 7 * DAY) == 0 and file.exists()
    assert remove_old(tmp_path, 7, now + 7 * DAY + timedelta(seconds=1)) == 1 and not file.exists()
    assert remove_old(tmp_path, 7, now + 9 * DAY) == 0
    assert Job.objects.get() == done


def test_for_ever_is_for_ever(tmp_path: Path) -> None:
    now = timezone.now()
    done = job(finished_at=now)
    file = written(file_of(tmp_path, done))
    assert kept_until(done, 0) is None
    assert remove_old(tmp_path, 0, now + 5000 * DAY) == 0 and file.exists()


def test_what_has_no_job_goes_by_its_last_change(tmp_path: Path) -> None:
    now = timezone.now()
    file = written(tmp_path / "exports" / "77.zip")
    assert remove_old(tmp_path, 7, now + 6 * DAY) == 0 and file.exists()
    long_ago = (now - 8 * DAY).timestamp()
    os.utime(file, (long_ago, long_ago))
    assert remove_old(tmp_path, 7, now) == 1 and not file.exists()


def test_what_a_dead_process_left_goes_and_what_is_worked_on_stays(tmp_path: Path) -> None:
    failed, running, waiting = job("failed"), job("running"), job("waiting")
    for one in (failed, running, waiting):
        written(file_of(tmp_path, one).with_suffix(".part"))
        folder = file_of(tmp_path, one).with_suffix("")
        folder.mkdir()
        written(folder / "query.json")
    assert remove_old(tmp_path, 1, timezone.now()) == 2  # half a file is no use to anybody
    left = {path.name for path in (tmp_path / "exports").iterdir()}
    assert left == {f"{running.pk}", f"{running.pk}.part", f"{waiting.pk}", f"{waiting.pk}.part"}


def test_nothing_else_is_touched(tmp_path: Path) -> None:
    late = timezone.now() + 100 * DAY
    assert remove_old(tmp_path, 7, late) == 0
    names = ["notes.txt", "7.zip.bak", "x7.zip", "7.tar", "٧.zip"]
    for name in names:
        written(tmp_path / "exports" / name)
    kept = written(tmp_path / "elsewhere" / "mine")
    (tmp_path / "exports" / "7").symlink_to(kept.parent)
    assert remove_old(tmp_path, 7, late) == 1  # the link, not what it leads to
    assert {path.name for path in (tmp_path / "exports").iterdir()} == set(names) and kept.exists()


def test_one_that_cannot_be_removed_keeps_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.name == "1.zip":
            raise PermissionError("not yours")
        unlink(path, missing_ok)

    for name in ("1.zip", "2.zip"):
        written(tmp_path / "exports" / name)
    monkeypatch.setattr(Path, "unlink", refuse)
    remove_old(tmp_path, 7, timezone.now() + 8 * DAY)
    assert [path.name for path in (tmp_path / "exports").iterdir()] == ["1.zip"]
