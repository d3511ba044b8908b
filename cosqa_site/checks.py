"""System checks of the settings alone: combinations that start, and then do something else than was meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks

from cosqa_site.service.startup import WrongRelease, refuse_other_release

LOCAL = {"127.0.0.1", "localhost", "::1"}


@checks.register("cosqa")
def settings_fit_together(**kwargs: Any) -> list[checks.CheckMessage]:
    """Every combination of settings that contradicts itself."""
    return [*broker_and_database(), *check_sandbox_settings(), *language_model()]


@checks.register(checks.Tags.database)
def database_is_of_this_release(
    *, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Asked by `manage.py migrate` before it changes anything."""
    if not databases:
        return []
    try:
        refuse_other_release()
    except WrongRelease as why:
        return [checks.Error(str(why), id="cosqa.E001")]
    return []


def broker_and_database() -> Iterator[checks.CheckMessage]:
    if settings.CELERY_BROKER_URL and "sqlite" in str(settings.DATABASES["default"]["ENGINE"]):
        yield checks.Warning(
            "Workers of several processes would share one SQLite file.",
            hint="Set DATABASE_URL to a PostgreSQL database, or leave CELERY_BROKER_URL and REDIS_URL empty.",
            id="cosqa.W001",
        )
    if settings.CELERY_BROKER_URL and not settings.REDIS_URL:
        yield checks.Warning(
            "REDIS_URL is empty: a second server on this data is refused.",
            hint="Set REDIS_URL; it serves as the broker too.",
            id="cosqa.W002",
        )


def check_sandbox_settings() -> Iterator[checks.CheckMessage]:
    unused = [name for name in ("DOCKER_HOST", "SANDBOX_IMAGE", "SANDBOX_RUNTIME") if getattr(settings, name)]
    if unused and settings.SANDBOX_BACKEND not in {"auto", "docker"}:
        names = ", ".join(f"COSQA_{name}" for name in unused)
        yield checks.Warning(
            f"{names} concern Docker alone, but COSQA_SANDBOX is {settings.SANDBOX_BACKEND}.",
            hint="Set COSQA_SANDBOX=docker, or leave them empty.",
            id="cosqa.W003",
        )


def language_model() -> Iterator[checks.CheckMessage]:
    yield from own_profile(settings.LLM_PROFILE)
    yield from check_encrypted_address("COSQA_LLM_BASE_URL", settings.LLM_BASE_URL, any_model_key())
    yield from check_encrypted_address(
        "COSQA_EMBEDDINGS_BASE_URL", settings.EMBEDDINGS_BASE_URL, settings.EMBEDDINGS_API_KEY
    )


def any_model_key() -> str:
    """A key of some language model, whichever profile asks with it: loading that would take long."""
    names = ("LLM_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY")
    return next(filter(None, (getattr(settings, name) for name in names)), "")


def own_profile(name: str) -> Iterator[checks.CheckMessage]:
    """Whether a profile of one's own can be read: those that are shipped can, and loading them takes long."""
    if not name.endswith(".toml"):
        return
    from annotation.llm.profiles import UnknownProfile, load_provider_profile

    try:
        yield from own_tokenizer(load_provider_profile(name).tokenizer)
    except UnknownProfile as error:
        yield checks.Error(
            f"COSQA_LLM_PROFILE: {error}",
            hint="Write it again: cosqa admin llm probe --save FILE.toml, or take one that is shipped.",
            id="cosqa.E005",
        )


def own_tokenizer(place: str) -> Iterator[checks.CheckMessage]:
    """Whether the tokenizer that a profile names is there; estimates do without, and say so."""
    if place and not Path(place).exists():
        yield checks.Warning(
            f"COSQA_LLM_PROFILE: there is no tokenizer at {place}: estimates count characters.",
            hint="The path is taken from the folder of the profile's file.",
            id="cosqa.W005",
        )


def check_encrypted_address(name: str, address: str, key: str) -> Iterator[checks.CheckMessage]:
    parts = urlsplit(address)
    if key and parts.scheme == "http" and parts.hostname not in LOCAL:
        yield checks.Warning(
            f"The API key would travel unencrypted to {parts.hostname}.",
            hint=f"Use https:// in {name}.",
            id="cosqa.W004",
        )
