"""The tools of this installation, made from its settings: which language model, which sandbox."""

from __future__ import annotations

import os
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import cast

from django.conf import settings

from annotation.builds.launch.estimates.tokens import Counter, by_provider, by_tokenizer
from annotation.builds.launch.launcher import lacks_key
from annotation.builds.launch.provider_key import configured_key
from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.execution import RESERVED, SandboxProvider, keep_found
from annotation.llm import LLM, LLMError, Request
from annotation.llm.exchange import ExchangeLLM
from annotation.llm.live import LiveLLM, load_provider_profile
from annotation.llm.recording import RecordedLLM
from annotation.llm.token_counter import CannotCount, file_of, format_tokenizer_name
from annotation.models import Build
from sandbox.pip_install import machine_settings
from sandbox.runner import Backend, Sandbox, open_sandbox

POOL = 2
LEFT_OUT = "Without what the provider's template puts around a prompt."


def create_configured_tools() -> Tools:
    """Made anew at each call; a process makes them once and shares them between its threads."""
    return Tools(
        llm_of=llm_of,
        sandbox=SandboxProvider(open_configured, keep_found),
        reserved=SandboxProvider(partial(open_configured, places=RESERVED), keep_found),
    )


def llm_of(build: Build) -> LLM:
    """The language model that `build` asks."""
    return get_provider_client(build.provider, build.recorded)


def find_token_counter(kind: str, model: str) -> Counter | None:
    """What counts tokens of `model`: the provider, else a local tokenizer; None where there is neither, or
    nobody live is asked.
    """
    if kind != Build.Provider.LIVE:
        return None
    known = load_provider_profile(settings.LLM_PROFILE)
    place = settings.LLM_TOKENIZER or known.tokenizer
    local = local_counter(place, model) if place else None
    if not known.token_counting or lacks_key():
        return local
    return Counter("the provider's own counter", by_provider(counted_live), otherwise=local)


def local_counter(place: str, model: str) -> Counter:
    """The tokenizer at `place`, under the name by which its estimates tell of it."""
    try:
        name = format_tokenizer_name(file_of(place, model))
    except CannotCount:
        name = format_tokenizer_name(Path(place))
    return Counter(f"the local tokenizer {name}", partial(by_tokenizer, place), LEFT_OUT)


def counted_live(request: Request) -> int:
    """Input tokens of `request` by the live provider. Raises LLMError, also where its settings can't work."""
    llm = get_provider_client(Build.Provider.LIVE, "")
    assert isinstance(llm, LiveLLM), "what is live is asked by this client"
    return llm.count(request)


@lru_cache(maxsize=32)
def get_provider_client(kind: str, recorded: str) -> LLM:
    """One client for each provider and file. Raises LLMError where the build has to wait for a person."""
    if kind == Build.Provider.RECORDED:
        return recorded_replies(Path(recorded))
    if kind == Build.Provider.EXCHANGE:
        return ExchangeLLM()
    return LiveLLM(
        api_key=configured_key(),
        base_url=settings.LLM_BASE_URL,
        profile=load_provider_profile(settings.LLM_PROFILE),
        timeout=settings.LLM_TIMEOUT,
    )


def recorded_replies(path: Path) -> RecordedLLM:
    try:
        return RecordedLLM(path)
    except OSError as error:
        raise LLMError(
            f"the recorded replies can't be read: {error}", retryable=False, provider=True
        ) from error


def open_configured(backend: Backend | None = None, places: int = 0, forks: bool | None = None) -> Sandbox:
    """The sandbox that the settings name, or another backend of theirs. Raises SandboxUnavailable.

    `places` bounds the runs at the same time (0: one for each core); as many containers are kept ready.
    `forks` says otherwise than COSQA_SANDBOX_FORKS.
    """
    pip_environment, pip_files = pip_settings()
    return open_sandbox(
        backend or cast(Backend, settings.SANDBOX_BACKEND),
        settings.COSQA_HOME / "sandbox",
        docker_host=settings.DOCKER_HOST,
        image=settings.SANDBOX_IMAGE,
        runtime=settings.SANDBOX_RUNTIME,
        concurrency=places,
        pool=places or POOL,
        users=settings.SANDBOX_USERS,
        pip_environment=pip_environment,
        pip_files=pip_files,
        uploaded_before=settings.PIP_CUTOFF,
        undated=settings.PIP_UNDATED,
        layers_mb=settings.SANDBOX_LAYERS_GB * 1024,
        forks=settings.SANDBOX_FORKS if forks is None else forks,
    )


@cache
def pip_settings() -> tuple[dict[str, str], tuple[Path, ...]]:
    """How pip reaches its index on this machine; asked once, as it takes a process of its own."""
    return machine_settings(os.environ)
