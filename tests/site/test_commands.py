"""Commands that span apps say what they do, and what was wrong."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pwd
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from annotation.accounts.actors import AtShell
from annotation.models import Build, Canary
from bench.registry import BENCHES
from retrieval.filters import Rule
from retrieval.mining import known_encoders
from tests import factories

pytestmark = pytest.mark.django_db
OURS = {"annotation", "cosqa_site", "retrieval"}
OWN = sorted((str(app), name) for name, app in get_commands().items() if app in OURS)
THEIRS = {"manage.py check args"}  # an argument of Django's own command, which ours extends


def test_a_build_is_launched_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    factories.queries()
    factories.snippets()
    call_command(
        "build", "mine", queries="small", snippets="small", encoders="bm25,bow", k=3, budget="2.5", limit=4
    )
    build = Build.objects.get(name="mine")
    assert (build.own_mining.encoders, build.own_mining.k, build.limit) == (["bm25", "bow"], 3, 4)
    assert build.tally.cap == 2_500_000_000
    assert "launched build" in capsys.readouterr().out


def test_what_a_build_would_take_is_told_without_launching_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    factories.queries()
    factories.snippets()
    call_command("build", "mine", queries="small", snippets="small", k=3, estimate=True)
    told = capsys.readouterr().out
    assert "screening     9 (9 to 10) calls" in told
    assert "no price is known" in told
    assert "- Unclear to the screener: 33 % (20 % to 50 %) [paper]" in told
    assert not Build.objects.exists()


class Terminal(StringIO):
    """What somebody types."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "said"),
    [("y\n", ""), ("n\n", "Nothing was launched"), ("\n", "Nothing was launched"), (None, "--yes")],
)
def test_what_is_paid_is_shown_and_launched_only_where_somebody_agrees(
    settings: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    typed: str | None,
    said: str,
) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    monkeypatch.setattr("sys.stdin", StringIO("y\n") if typed is None else Terminal(typed))
    common = {"queries": factories.queries().name, "snippets": factories.snippets().name, "unpriced": True}
    with pytest.raises(CommandError, match=said) if said else contextlib.nullcontext():
        call_command("build", "mine", provider="live", **common)
    assert "screening     9 (9 to 10) calls" in capsys.readouterr().out
    built = Build.objects.first()
    assert (built is None) == bool(said)
    if built:
        assert built.events.filter(event="estimate confirmed").exists()


def test_skipping_the_canary_from_the_command_line_takes_a_reason_that_is_kept(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    common = {"queries": factories.queries().name, "snippets": factories.snippets().name, "unpriced": True}
    call_command("build", "with", provider="live", yes=True, **common)
    call_command("build", "without", provider="live", yes=True, skip_canary="proven prompts", **common)
    assert [row.build.name for row in Canary.objects.select_related("build")] == ["with"]
    event = Build.objects.get(name="without").events.get(event="skipped the canary")
    assert (event.note, event.user) == (f"proven prompts ({AtShell.now()})", None)


@pytest.mark.parametrize(
    ("named", "rule"),
    [("testable_with_self", Rule.TESTABLE_WITH_SELF), ("TESTABLE", Rule.TESTABLE), ("None", Rule(0))],
)
def test_a_build_takes_rules_by_the_names_that_filters_prints(named: str, rule: Rule) -> None:
    factories.queries()
    factories.snippets()
    call_command("build", "mine", "--queries", "small", "--functions", "small", "--rule", named)
    assert Build.objects.get().own_mining.rule == rule


@pytest.mark.parametrize("named", ["without_docstring", "without docstring"])
def test_a_build_takes_text_options_by_the_names_that_evaluate_takes(named: str) -> None:
    factories.queries()
    factories.snippets()
    call_command("build", "mine", "--queries", "small", "--snippets", "small", "--text", named)
    assert Build.objects.get().own_mining.text_option == "without docstring"


@pytest.mark.parametrize("anew", ["--fresh", "--no-cache"])
def test_why_and_as_whom_a_command_launched_is_in_the_history(anew: str) -> None:
    factories.queries()
    factories.snippets()
    common = ["--queries", "small", "--snippets", "small", "--seed", "7", "--screen-by-query", anew]
    call_command("build", "mine", "--reason", "a new prompt", "--sampling", '{"temperature": 0}', *common)
    build = Build.objects.get()
    event = build.events.get(event="launched")
    assert event.user is None
    assert event.note.endswith(f": a new prompt ({AtShell.now()})")
    assert pwd.getpwuid(os.getuid()).pw_name in event.note
    config = build.annotator.config
    assert (config["sampling"], config["seed"], config["salt"]) == ({"temperature": 0}, 7, "mine")


def test_a_build_is_asked_by_batch_where_the_command_says_so(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    common = {"queries": factories.queries().name, "snippets": factories.snippets().name, "unpriced": True}
    call_command("build", "batched", provider="live", yes=True, batches=True, **common)
    assert Build.objects.get().batches


def test_a_build_is_ordered_as_in_the_paper(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    common = {"queries": factories.queries().name, "snippets": factories.snippets().name, "profile": "paper"}
    with pytest.raises(CommandError, match="codebert"):  # its encoders, whose weights are not here
        call_command("build", "mine", **common)
    with pytest.raises(
        CommandError, match="As in the paper means encoders codebert, unixcoder, codet5p: lea"
    ):
        call_command("build", "mine", encoders="bm25,bow", **common)
    monkeypatch.setattr(known_encoders, "why_missing", lambda name: "")
    call_command("build", "mine", **common)
    assert Build.objects.get().annotator.config["profile"] == "paper"
    assert "this codebert was never tuned for search" in capsys.readouterr().out
    with pytest.raises(CommandError, match="means rewrites 0"):
        call_command("build", "other", rewrites=3, **common)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"queries": "none"}, "no collection of queries called 'none'"),
        ({"encoders": "wordnet"}, "wordnet"),
        ({"budget": "much"}, "expected dollars"),
        ({"text": "half"}, "there are whole, without_docstring"),
        ({"sampling": "warm"}, "Sampling is JSON, such as"),
        ({"sampling": "[0]"}, "Sampling is a JSON object"),
        ({"sampling": '{"temperature": NaN}'}, "NaN is no JSON number"),
    ],
)
def test_a_wrong_build_says_what_was_expected(change: dict[str, str], said: str) -> None:
    factories.queries()
    factories.snippets()
    with pytest.raises(CommandError, match=said):
        call_command("build", "mine", **{"queries": "small", "snippets": "small", **change})


def test_work_refuses_queues_that_are_not_there() -> None:
    with pytest.raises(CommandError, match="no queue sorting"):
        call_command("work", "--until-idle", "--queues", "sorting")


def test_an_exchange_with_an_unknown_build_lists_those_that_are() -> None:
    factories.launched("first")
    with pytest.raises(CommandError, match="there are: first"):
        call_command("exchange", "export", "second")


def test_an_export_of_a_build_where_nothing_waits_is_empty(tmp_path: Path) -> None:
    factories.opened("first")
    out = tmp_path / "requests.jsonl"
    call_command("exchange", "export", "first", "--out", str(out))
    assert out.read_text() == ""


def test_a_bench_prints_its_ratios(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bench.mining import exact_search

    monkeypatch.setitem(exact_search.SIZES, "small", exact_search.Size(3000, 64, 64, 2000, 64))
    monkeypatch.setattr(exact_search, "DIMENSIONS", (48, 16))
    call_command("bench", "mining", "--json")
    found = json.loads(capsys.readouterr().out)
    assert {"of_gemm_peak_fp32", "of_gemm_peak_bf16", "over_faiss_flat"} == set(found["ratios"])
    assert found["chosen"] in ("fp32", "bf16")
    assert found["identical_top20"] == 1.0
    assert 0 < found["peak_mb"] < 2000


def test_the_encoding_bench_takes_real_functions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    functions = {f"def sort_{word}({word}):\n    return sorted({word})": i for i, word in enumerate("abcdef")}
    (tmp_path / "code_idx_map.txt").write_text(json.dumps(functions))
    call_command("bench", "encoding", "--json", "--data", str(tmp_path))
    found = json.loads(capsys.readouterr().out)
    assert found["functions"] == 6
    assert found["overlap_top20"] == 1.0
    assert found["ratios"]["over_sentence_transformers"] > 0


def test_without_functions_the_encoding_bench_says_what_to_give(tmp_path: Path) -> None:
    for more in ([], ["--data", str(tmp_path)]):
        with pytest.raises(CommandError, match=r"code_idx_map\.txt"):
            call_command("bench", "encoding", *more)


def test_a_bench_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(CommandError, match=", ".join(BENCHES)):
        call_command("bench", "typing")


@pytest.mark.parametrize(("broker", "alone"), [("", False), ("redis://127.0.0.1:1/0", True)])
def test_a_server_without_workers_says_so_at_its_start(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path, *, broker: str, alone: bool
) -> None:
    settings.COSQA_HOME, settings.CELERY_BROKER_URL = tmp_path, broker
    served: list[bool] = []
    command = "cosqa_site.management.commands.serve"
    monkeypatch.setattr(f"{command}.prepare_database", lambda: None)
    monkeypatch.setattr(f"{command}.serve_site", lambda host, port, work: served.append(work))
    told = StringIO()
    call_command("serve", "--port", "0", stdout=told)
    assert ("No worker runs here" in told.getvalue()) is alone
    assert served == [not alone]


def test_corpus_statistics_are_told_as_tables(capsys: pytest.CaptureFixture[str]) -> None:
    build = factories.opened("counted")
    factories.settled(factories.cases(build)[0], 1)
    call_command("corpus", "build", "counted")
    told = capsys.readouterr().out
    assert "Queries by number of matches" in told
    assert "CoSQA⁺, as reported 412,080 132,952 378.052" in " ".join(told.split())
    call_command("corpus", "collection", "small", kind="queries", all=True, json=True)
    assert list(json.loads(capsys.readouterr().out)) == ["query-tokens", "filters"]


@pytest.mark.parametrize("of", ["build", "benchmark", "collection"])
def test_corpus_statistics_of_what_is_not_there(of: str) -> None:
    with pytest.raises(CommandError, match="here is no"):
        call_command("corpus", of, "nothing")


def test_corpus_statistics_of_a_build_that_still_mines() -> None:
    with pytest.raises(CommandError, match="nothing in build 'mines' to count yet"):
        call_command("corpus", "build", factories.launched("mines").name)


def without_help(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Its options and arguments, and those of its verbs, that `--help` says nothing of."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield from without_help(verb)
        elif not action.help:
            yield f"{parser.prog} {'/'.join(action.option_strings) or action.dest}"


@pytest.mark.alike
@pytest.mark.parametrize(("app", "name"), OWN)
def test_help_says_what_each_option_is_for(app: str, name: str) -> None:
    parser = load_command_class(app, name).create_parser("manage.py", name)
    assert set(without_help(parser)) <= THEIRS
