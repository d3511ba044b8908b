"""What a command that fails says to people, and to programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class

from annotation.accounts.roles import Role
from annotation.builds.pipeline.file_exchange import find_unanswered_calls
from annotation.models import Build, Study
from retrieval.models import Member
from tests import factories
from tests.factories import person

pytestmark = pytest.mark.django_db


def run(name: str, *words: str) -> int:
    """The exit status of a command as it is typed."""
    command = load_command_class(get_commands()[name], name)
    try:
        command.run_from_argv(["cosqa", name, *words])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture(autouse=True)
def connections_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.db.connections.close_all", lambda: None)


def test_an_error_is_one_line_without_the_name_of_a_class(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("status", "nothing") == 1
    said = capsys.readouterr()
    assert said.err == "cosqa: There is no build called 'nothing'; there are: none yet.\n"
    assert said.out == ""


def test_an_error_is_an_object_too_where_a_program_reads(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("status", "nothing", "--json") == 1
    said = capsys.readouterr()
    assert json.loads(said.out) == {
        "error": "There is no build called 'nothing'; there are: none yet.",
        "exit_code": 1,
    }
    assert said.err.startswith("cosqa: There is no build")


def test_a_wrong_option_is_an_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("import", "table", "--json") == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["exit_code"] == 2
    assert "the following arguments are required" in json.loads(said.out)["error"]
    assert "usage:" in said.err


def test_help_stays_help_where_json_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("status", "--json", "--help") == 0
    assert capsys.readouterr().out.startswith("usage:")


def test_an_import_prints_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "one.py"
    source.write_text("def double(number):\n    return number * 2\n")
    assert run("import", "python", str(source), "--name", "mine", "--json") == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert (found["snippets"]["stored"], found["refused"], found["benchmark"]) == (1, 0, None)
    assert "functions: 1 read, 1 stored" in said.err


def test_an_import_with_a_refused_record_prints_what_is_stored_and_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "queries.jsonl"
    table.write_text('{"query": "sort a list"}\n{"other": 1}\n')
    assert run("import", "table", str(table), "--query", "query", "--name", "mine", "--json") == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["queries"]["stored"], found["refused"], found["exit_code"]) == (1, 1, 3)
    assert found["problems"][0]["record"] == 2
    assert found["error"].startswith("Refused: 1 record")
    assert Member.objects.count() == 1


def test_a_launch_prints_the_build(capsys: pytest.CaptureFixture[str]) -> None:
    factories.queries()
    factories.snippets()
    assert run("build", "first", "--queries", "small", "--snippets", "small", "--json") == 0
    [made] = json.loads(capsys.readouterr().out)["builds"]
    assert made == {"id": Build.objects.get().pk, "name": "first", "state": "running"}


def test_an_estimate_prints_its_stages(capsys: pytest.CaptureFixture[str]) -> None:
    factories.queries()
    factories.snippets()
    words = ("--queries", "small", "--snippets", "small", "-k", "3", "--estimate", "--json")
    assert run("build", "first", *words) == 0
    [found] = json.loads(capsys.readouterr().out)["estimates"]
    assert found["name"] == "first"
    assert found["stages"][0]["calls"]["expected"] == "9"  # 3 queries with 3 functions each
    assert not Build.objects.exists()


def test_replies_that_are_refused_are_told_by_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    factories.opened()
    replies = tmp_path / "replies.jsonl"
    replies.write_text('{"id": "unknown", "reply": {}}\n')
    assert run("exchange", "import", "first", str(replies), "--json") == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["taken"], found["refused"]) == (0, 1)
    assert found["problems"][0]["line"] == 1
    assert not find_unanswered_calls(Build.objects.get()).exists()


def test_requests_need_a_file_where_the_object_takes_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    factories.opened()
    assert run("exchange", "export", "first", "--json") == 1
    assert "--json needs --out" in json.loads(capsys.readouterr().out)["error"]
    out = str(tmp_path / "requests.jsonl")
    assert run("exchange", "export", "first", "--json", "--out", out) == 0
    assert json.loads(capsys.readouterr().out) == {"build": "first", "requests": 0, "files": {out: 0}}


def test_a_check_prints_each_message(settings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--tag", "cosqa", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"messages": []}


def test_a_study_is_listed_and_closed_by_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    ada = person("ada", Role.ADMIN)
    Study.objects.create(name="s", state=Study.State.RUNNING, created_by=ada)
    assert run("study", "list", "--json") == 0
    [row] = json.loads(capsys.readouterr().out)["studies"]
    assert (row["name"], row["state"]) == ("s", "running")
    assert run("study", "close", "s", "--as", "ada", "--json") == 0
    assert json.loads(capsys.readouterr().out)["state"] == "closed"
    assert run("study", "publish", "s", "--as", "ada", "--json") == 1
    assert json.loads(capsys.readouterr().out)["exit_code"] == 1
