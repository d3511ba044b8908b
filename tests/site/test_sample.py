"""The demo must show what it shows because it ran: each of these would pass on a fake."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cosqa_site.demo.sample import BadSample, ensure_sample_build
from tests.packages import share

ROOT = Path(__file__).resolve().parents[2]
QUERIES, PAIRS = 3, 24
"""Of the samples that are changed: what is shown of them needs no more."""

Demo = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder whose sandbox packages are installed, and whose tables are made, once for this module."""
    folder = tmp_path_factory.mktemp("home")
    share(folder)
    manage(folder, "migrate", "-v0").check_returncode()
    (folder / "workbench.sqlite3").rename(folder / "empty.sqlite3")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def demo(home: Path) -> Demo:
    """Run `manage.py demo --no-serve --json` on a sample folder, with a fresh database."""

    def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        for path in home.glob("workbench.sqlite3*"):
            path.unlink()
        shutil.copy(home / "empty.sqlite3", home / "workbench.sqlite3")
        return run_demo(home, folder, **environment)

    return run


class Shipped(NamedTuple):
    """A home in which the whole sample was built, a copy of that sample, and what the command printed."""

    home: Path
    sample: Path
    found: dict[str, Any]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shipped]:
    folder = tmp_path_factory.mktemp("shipped")
    share(folder)
    sample = Path(shutil.copytree(ROOT / "sample", tmp_path_factory.mktemp("whole") / "sample"))
    yield Shipped(folder, sample, result(run_demo(folder, sample)))
    shutil.rmtree(folder, ignore_errors=True)


def run_demo(home: Path, sample: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return manage(home, "demo", "--no-serve", "--json", "--sample", str(sample), **environment)


def manage(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    unset = {"DATABASE_URL", "REDIS_URL", "ANTHROPIC_API_KEY"}
    names = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=names | {"COSQA_HOME": str(home)} | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A copy of the shipped sample with its first queries only, for changing."""
    folder = Path(shutil.copytree(ROOT / "sample", tmp_path / "sample"))
    write(folder / "queries.jsonl", lines(folder / "queries.jsonl")[:QUERIES])
    return folder


def result(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_shipped_sample_settles_every_pair_and_agrees_with_the_truth(shipped: Shipped) -> None:
    found = shipped.found
    assert (found["queries"], found["pairs"], found["settled"], found["abandoned"]) == (24, 192, 192, 0)
    assert found["executable_rate"] >= 0.9
    assert found["agreement_with_truth"] >= 0.95


def test_the_shipped_sample_has_something_to_see_in_every_room(shipped: Shipped) -> None:
    told = json.loads(manage(shipped.home, "review", "--user", "expert", "--json").stdout)
    waits = {card["title"]: card["waits"] for card in told["work"]}
    assert waits == {
        "Decide": "1 disagreement to decide",
        "Review": "192 pairs to check",
        "Generated functions": "1 to accept or reject",
    }
    board = json.loads(manage(shipped.home, "leaderboard", "sample-benchmark", "--json").stdout)
    assert sorted(board["systems"]) == ["bm25", "bm25-fields", "bow"]
    assert board["queries"] == 22  # of 24, two have no match


def test_a_second_demo_makes_nothing_new_and_compares_with_the_truth_of_now(shipped: Shipped) -> None:
    before = json.loads(manage(shipped.home, "status", "--all", "--json").stdout)
    truth = lines(shipped.sample / "truth.jsonl")
    truth[0]["label"] = 1 - truth[0]["label"]
    write(shipped.sample / "truth.jsonl", truth)
    done = run_demo(shipped.home, shipped.sample)
    moved = result(done)["agreement_with_truth"] - shipped.found["agreement_with_truth"]
    assert abs(moved) == pytest.approx(1 / 192), "one flipped truth moves it by one pair"
    assert "a disagreement to decide" in done.stderr
    assert json.loads(manage(shipped.home, "status", "--all", "--json").stdout) == before
    assert "sample-benchmark@1" in manage(shipped.home, "leaderboard", "sample-benchmark").stdout


def test_a_moved_home_is_the_same_to_the_last_byte(shipped: Shipped, tmp_path: Path) -> None:
    second, dump, again = (tmp_path / name for name in ("second", "dump", "again"))
    second.mkdir()
    manage(shipped.home, "export", "everything", str(dump)).check_returncode()
    assert tables_of(dump)["annotation.case"]["rows"] == 193  # one of the generated function
    told = manage(second, "import", "everything", str(dump))
    assert "193  annotation.case" in told.stdout, told.stderr
    manage(second, "export", "everything", str(again)).check_returncode()
    assert tables_of(again) == tables_of(dump)


def tables_of(dump: Path) -> dict[str, Any]:
    tables: dict[str, Any] = json.loads((dump / "everything.json").read_text())["tables"]
    return tables


def test_a_changed_function_makes_its_requests_lack_a_reply_and_the_run_names_them(
    demo: Demo, sample: Path
) -> None:
    path = sample / "functions" / "lists.py"
    text = path.read_text()
    name = text.split("def ", 1)[1].split("(", 1)[0]
    body = text.index("\n", text.index(f"def {name}("))
    path.write_text(f"{text[:body]}  # changed{text[body:]}")
    done = demo(sample)
    found = result(done)
    assert found["abandoned"] >= 1
    assert found["settled"] + found["abandoned"] == found["pairs"]
    assert "has no reply to request" in done.stderr


def test_two_swapped_programs_are_noticed(demo: Demo, sample: Path) -> None:
    replies = lines(sample / "replies.jsonl")
    writers = [row for row in replies if row["agent"] == "test_writer"]
    first, last = writers[0]["reply"], writers[-2]["reply"]  # the last one is of the generated function
    first["program"], last["program"] = last["program"], first["program"]
    write(sample / "replies.jsonl", replies)
    done = demo(sample)
    found = result(done)
    # The arbiter reads the program, so its requests are others than the recorded ones, without a reply.
    assert found["abandoned"] == 2
    assert "of the arbiter" in done.stderr


def test_without_a_sandbox_the_build_waits_and_says_so_and_nothing_is_labelled_without_a_run(
    demo: Demo, sample: Path
) -> None:
    done = demo(sample, COSQA_SANDBOX="none")
    found = result(done)
    assert found["abandoned"] == found["executed"] == 0
    assert found["settled"] < found["pairs"]
    assert found["executable_rate"] is None
    assert "The build is waiting for the sandbox: executing programs is switched off" in done.stderr


@pytest.mark.parametrize("missing", ["queries.jsonl", "functions", "replies.jsonl", "truth.jsonl"])
def test_a_folder_that_is_no_sample_is_refused_by_name(tmp_path: Path, missing: str) -> None:
    shutil.copytree(ROOT / "sample", tmp_path, dirs_exist_ok=True, ignore=lambda *_: [missing])
    with pytest.raises(BadSample, match=f"is no sample: it lacks {missing}."):
        ensure_sample_build(tmp_path)


def test_the_command_says_what_a_folder_lacks(demo: Demo, sample: Path) -> None:
    (sample / "truth.jsonl").unlink()
    done = demo(sample)
    assert done.returncode != 0
    assert "truth.jsonl" in done.stderr
