"""`manage.py missing`: the same from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.accounts.actors import AtShell
from annotation.builds.launch.estimates import confirmation
from annotation.derived.missing_functions import function_decisions
from annotation.derived.missing_functions.function_decisions import ProposalChoice
from annotation.models import Build, Filling, Price
from tests import factories, filling

pytestmark = pytest.mark.django_db


def test_show_counts(capsys: pytest.CaptureFixture[str]) -> None:
    filling.source(matched=1)
    call_command("missing", "show", "source")
    assert "3 queries: 1 with a match, 2 without, 0 that nobody knows of" in capsys.readouterr().out


def test_status_and_publish_say_what_to_do_about_queries_without_a_match(
    capsys: pytest.CaptureFixture[str],
) -> None:
    build = filling.source(matched=1)
    wanted = (
        "2 queries have no match among the functions found. "
        f"'cosqa admin extend source -k {2 * build.own_mining.k} --reason WHY' looks further down; "
        "'cosqa admin missing write source --name NAME' has functions written for them."
    )
    call_command("status", "source")
    assert wanted in capsys.readouterr().out
    call_command("benchmark", "publish", "made", "--build", "source")
    assert f"warning: {wanted}" in capsys.readouterr().err
    call_command("status")
    assert "no match among" not in capsys.readouterr().out, "the list of builds stays short"
    Build.objects.update(state=Build.State.RUNNING)
    call_command("status", "source")
    assert "no match among" not in capsys.readouterr().out, "some may still be found"


def test_write_says_the_price_or_orders(capsys: pytest.CaptureFixture[str]) -> None:
    Price.objects.create(model="small-model", effective_from=timezone.now(), input=1, output=5)
    filling.source(matched=1)
    call_command("missing", "write", "source", "--name", "more", "--price")
    assert "2 functions" in (said := capsys.readouterr().out) and "$" in said
    assert not Filling.objects.exists()
    call_command("missing", "write", "source", "--name", "more", "--budget", "1")
    assert Filling.objects.get().proposals.count() == 2
    with pytest.raises(CommandError, match="already"):
        call_command("missing", "write", "source", "--name", "more")
    with pytest.raises(CommandError, match="dollars"):
        call_command("missing", "write", "source", "--name", "other", "--budget", "much")


def test_a_large_live_job_comes_after_a_small_one(capsys: pytest.CaptureFixture[str], settings: Any) -> None:
    settings.CANARY_ABOVE, settings.CANARY_CASES, settings.ANTHROPIC_API_KEY = 3, 1, "a-key"
    filling.source()
    live = ("missing", "write", "source", "--provider", "live", "--unpriced", "--yes", "--name")
    with pytest.raises(CommandError, match="Have 1 queries written for first"):
        call_command(*live, "all of them")
    call_command(*live, "one", "--limit", "1")
    job = Filling.objects.get()
    assert job.proposals.count() == 1
    with pytest.raises(CommandError, match="Have 1 queries"):
        call_command(*live, "all of them")
    Build.objects.filter(pk=job.build_id).update(state=Build.State.DONE)
    call_command(*live, "the rest")
    assert Filling.objects.latest("pk").proposals.count() == 2, "the one has its function already"


def test_a_reason_does_without_the_small_one_and_is_kept(settings: Any) -> None:
    settings.CANARY_ABOVE, settings.CANARY_CASES, settings.ANTHROPIC_API_KEY = 3, 1, "a-key"
    filling.source()
    call_command(
        *("missing", "write", "source", "--provider", "live", "--unpriced", "--yes"),
        *("--name", "all of them"),
        *("--at-once", "written for yesterday"),
    )
    event = Filling.objects.get().build.events.get(event="skipped the canary")
    assert event.note == f"written for yesterday ({AtShell.now()})"


def test_a_live_job_is_launched_on_what_was_shown_once_somebody_agrees(
    capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    Price.objects.create(model="small-model", effective_from=timezone.now(), input=1, output=5)
    filling.source()
    live = "missing", "write", "source", "--provider", "live", "--model", "small-model", "--name", "more"
    with pytest.raises(CommandError, match="Nothing was launched; --yes launches it"):
        call_command(*live, "--reason", "to fill the gaps")
    assert "3 functions" in capsys.readouterr().out and not Filling.objects.exists()
    call_command(*live, "--reason", "to fill the gaps", "--yes")
    build = Filling.objects.get().build
    told = dict(build.events.values_list("event", "note"))
    assert "to fill the gaps" in told["launched"] and "3 pairs" in told["estimate confirmed"]
    assert confirmation.load_launch_estimate(build) is not None


def test_export_writes_what_was_accepted(tmp_path: Path) -> None:
    job = filling.checked()
    function_decisions.decide_proposal(
        factories.erin(), job.proposals.order_by("pk")[0], ProposalChoice("accept"), 0
    )
    call_command("missing", "export", job.of.name, "--out", str(tmp_path / "out.jsonl"))
    [line] = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(line)["provenance"]["decided_by"] == "erin"
