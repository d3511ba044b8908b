"""The key of the configured provider: which variables it may stand in, and what it is."""

from __future__ import annotations

from typing import Final

from django.conf import settings

from annotation.llm.profiles import ProviderProfile, load_provider_profile

ANY_SERVER: Final = "COSQA_LLM_API_KEY"
OF_MESSAGES: Final = "ANTHROPIC_API_KEY"
"""Read for every profile of the Messages protocol, as it was before other variables were."""


def key_variables(profile: ProviderProfile) -> tuple[str, ...]:
    """The variables that the profile's key is read from, the first that is set counts."""
    named = (ANY_SERVER, profile.key, OF_MESSAGES if profile.protocol == "messages" else "")
    return tuple(dict.fromkeys(filter(None, named)))


def configured_key() -> str:
    """The key of the configured profile; empty where there is none."""
    names = key_variables(load_provider_profile(settings.LLM_PROFILE))
    found = (getattr(settings, name.removeprefix("COSQA_")) for name in names)
    return next(filter(None, found), "")


def name_key_variables() -> str:
    """`OPENAI_API_KEY or COSQA_LLM_API_KEY`, the one that says whose it is first."""
    first, *others = key_variables(load_provider_profile(settings.LLM_PROFILE))
    return " or ".join([*others, first])
