"""`cosqa`: short help without Django, words handed on as they were typed, completion by Tab."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cosqa import command
from cosqa.command import Verbs, make_group
from cosqa.verbs import VERBS, Verb

ROOT = Path(__file__).resolve().parents[2]


def invoke(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(make_group(), words, prog_name="cosqa")
    return done.exit_code, done.output


def run_command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_help_has_at_most_twenty_lines_of_eighty_columns(words: tuple[str, ...]) -> None:
    _, told = invoke(*words)
    lines = told.splitlines()
    assert 15 <= len(lines) <= 20
    assert max(map(len, lines)) <= 80


def test_help_starts_within_the_time_and_without_django() -> None:
    def processor_seconds() -> float:
        before = os.times()
        done = run_command("-X", "importtime", "-m", "cosqa", "--help")
        after = os.times()
        assert done.returncode == 0
        assert "cosqa.verbs" in done.stderr
        assert "django" not in done.stderr
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert min(processor_seconds() for _ in range(5)) <= 0.4


def test_importing_the_package_loads_neither_django_nor_click() -> None:
    done = run_command("-c", "import cosqa, sys; print({'django', 'click', 'retrieval'} & set(sys.modules))")
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_verbs_help_fits_a_screen(verb: Verb) -> None:
    status, told = invoke(verb.name, "--help")
    lines = told.splitlines()
    assert status == 0
    assert lines[0].startswith(f"cosqa {verb.name}")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_an_unknown_verb_says_where_the_others_are() -> None:
    status, told = invoke("account")
    assert status == 2
    assert "There is no verb 'account'. 'cosqa admin help' lists the other commands." in told


@pytest.mark.parametrize(
    ("typed", "name", "words"),
    [
        (("build", "x", "-k", "3", "--", "--y"), "cosqa", ["build", "x", "-k", "3", "--", "--y"]),
        (
            ("publish", "plus", "--build", "b"),
            "cosqa admin",
            ["benchmark", "publish", "plus", "--build", "b"],
        ),
        (("study", "list", "--help"), "cosqa", ["study", "list", "--help"]),
        (("check",), "cosqa admin", ["check", "--tag", "health"]),
        (("admin", "account", "-h"), "cosqa admin", ["account", "-h"]),
        (("admin",), "cosqa admin", ["help"]),
        (("admin", "--help"), "cosqa admin", ["help"]),
    ],
)
def test_what_was_typed_reaches_the_application_unchanged(
    typed: tuple[str, ...], name: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[list[str], str]] = []
    monkeypatch.setattr(command, "run_application", lambda words, name: calls.append((list(words), name)))
    assert invoke(*typed)[0] == 0
    assert calls == [(words, name)]


def test_celery_gets_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(command, "run_celery", lambda words: calls.append(list(words)))
    invoke("admin", "celery", "worker", "--queues", "llm")
    assert calls == [["worker", "--queues", "llm"]]


def complete(line: str) -> list[str]:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = run_command("-m", "cosqa", _COSQA_COMPLETE="bash_complete", **words)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("cosqa ex", ["plain,exchange", "plain,export"]),
        ("cosqa build --es", ["plain,--estimate"]),
        ("cosqa build first --pr", ["plain,--provider"]),
        ("cosqa study pl", ["plain,plan"]),
        ("cosqa exchange import first re", ["file,re"]),
    ],
)
def test_tab_completes_verbs_options_and_files(line: str, found: list[str]) -> None:
    assert complete(line) == found


def test_the_script_for_the_shell_is_printed() -> None:
    done = run_command("-m", "cosqa", _COSQA_COMPLETE="zsh_source")
    assert done.returncode == 0
    assert "#compdef cosqa" in done.stdout


def test_ctrl_c_ends_with_a_status_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    import manage

    def stop() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(manage, "main", stop)
    monkeypatch.setattr(command, "enter", lambda: None)
    monkeypatch.setattr(sys, "argv", sys.argv)
    with pytest.raises(SystemExit) as ended:
        command.run_application(["status"], "cosqa")
    assert ended.value.code == 130


def test_the_group_lists_verbs_in_the_order_of_work() -> None:
    group = make_group()
    assert isinstance(group, Verbs)
    assert [*group.commands][:3] == ["init", "serve", "demo"]
    assert [*group.commands][-1] == "admin"
