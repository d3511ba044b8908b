"""Settings that start and then do something else than was meant are told by `manage.py check`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from cosqa_site.checks import settings_fit_together
from cosqa_site.management.commands.llm import Command

ONE_MACHINE: dict[str, Any] = {
    "CELERY_BROKER_URL": "",
    "REDIS_URL": "",
    "SANDBOX_BACKEND": "auto",
    "DOCKER_HOST": "",
    "SANDBOX_IMAGE": "",
    "SANDBOX_RUNTIME": "",
    "ANTHROPIC_API_KEY": "",
    "OPENAI_API_KEY": "",
    "DEEPSEEK_API_KEY": "",
    "OPENROUTER_API_KEY": "",
    "LLM_API_KEY": "",
    "LLM_BASE_URL": "https://api.anthropic.com",
}


@pytest.fixture(autouse=True)
def sqlite(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.sqlite3")


def found(settings: Settings, **changes: Any) -> list[str]:
    for name, value in (ONE_MACHINE | changes).items():
        setattr(settings, name, value)
    return [str(one.id) for one in settings_fit_together()]


def test_one_machine_without_any_setting_is_fine(settings: Settings) -> None:
    assert found(settings) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"CELERY_BROKER_URL": "redis://r", "REDIS_URL": "redis://r"}, ["cosqa.W001"]),
        ({"CELERY_BROKER_URL": "amqp://r"}, ["cosqa.W001", "cosqa.W002"]),
        ({"SANDBOX_BACKEND": "bubblewrap", "DOCKER_HOST": "tcp://d"}, ["cosqa.W003"]),
        ({"SANDBOX_BACKEND": "docker", "DOCKER_HOST": "tcp://d"}, []),
        ({"LLM_BASE_URL": "http://models.example", "ANTHROPIC_API_KEY": "sk"}, ["cosqa.W004"]),
        ({"EMBEDDINGS_BASE_URL": "http://vectors.example", "EMBEDDINGS_API_KEY": "sk"}, ["cosqa.W004"]),
        ({"LLM_BASE_URL": "http://models.example"}, []),
        ({"LLM_BASE_URL": "http://127.0.0.1:8080", "ANTHROPIC_API_KEY": "sk"}, []),
    ],
)
def test_contradictions_are_told(settings: Settings, changes: dict[str, Any], expected: list[str]) -> None:
    assert found(settings, **changes) == expected


def test_a_tokenizer_that_is_not_there_is_told(settings: Settings, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(Path("annotation/llm/providers/generic.toml").read_text() + 'tokenizer = "words.json"\n')
    assert found(settings, LLM_PROFILE=str(mine)) == ["cosqa.W005"]
    (tmp_path / "words.json").touch()
    assert found(settings, LLM_PROFILE=str(mine)) == []


def test_a_provider_profile_that_can_not_be_read_is_told_before_anything_starts(
    settings: Settings, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("thinking = 'sometimes'\n")
    assert found(settings, LLM_PROFILE=str(broken)) == ["cosqa.E005"]
    assert not Command.requires_system_checks
