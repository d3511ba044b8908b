"""The page that tests a connection: the form, what a test costs, and what tests have found."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.conf import settings
from django.utils import timezone

from annotation.builds.control.connection_test import Wanted
from annotation.builds.launch.provider_key import configured_key
from annotation.llm.probe import MOST_CALLS, MOST_TOKENS, TOKENS_A_QUESTION
from annotation.llm.profiles import (
    PROFILES,
    ProviderProfile,
    UnknownProfile,
    load_provider_profile,
    parse_provider_profile,
)
from annotation.models import ConnectionTest, Price
from annotation.web.shared.forms import set_choices

SHOWN: Final = 10
LONGEST_MODEL: Final = 120
COMPARED: Final = ("json_schema", "forced_tool", "strict_tool", "thinking", "needs_key", "same_model")


class ConnectionForm(forms.Form):
    """What is to be tested. The configured key is never shown, and goes nowhere but to its own address."""

    model = forms.CharField(
        max_length=LONGEST_MODEL, label="Model", help_text="The model’s name, as builds use it."
    )
    profile = forms.ChoiceField(
        label="Compare with the profile", help_text="What the workbench assumes that the server can do."
    )
    base_url = forms.CharField(
        max_length=400,
        required=False,
        label="Another address",
        help_text="Empty: the configured one. Another one (without /v1) is asked without a key.",
    )
    caching = forms.BooleanField(required=False, label="Try prompt caching too: about 12,000 tokens more")
    batches = forms.BooleanField(
        required=False, label="Try a batch too: one question, and up to two minutes of waiting for it"
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # a form's own arguments, passed on
        others = [(name, name) for name in PROFILES if name != settings.LLM_PROFILE]
        configured = (settings.LLM_PROFILE, f"{settings.LLM_PROFILE} (configured)")
        set_choices(self, "profile", [configured, *others])
        self.initial = {"model": settings.LLM_MODEL, "profile": settings.LLM_PROFILE, **self.initial}

    def wanted(self) -> Wanted:
        """The test of a valid form."""
        values = self.cleaned_data
        tried = {name: values[name] for name in ("caching", "batches")}
        return Wanted(values["model"], values["profile"], values["base_url"], **tried)


def connection_page() -> dict[str, Any]:
    """The form's surroundings, with the newest ten tests."""
    return {
        "address": settings.LLM_BASE_URL,
        "has_key": bool(configured_key()),
        "cost": estimate_test_cost(),
        "tests": ConnectionTest.objects.select_related("user")[:SHOWN],
    }


def estimate_test_cost() -> dict[str, Any]:
    """The most that a test without caching can take; `dollars` are nanodollars for the configured model."""
    given, taken = MOST_CALLS * TOKENS_A_QUESTION, MOST_CALLS * MOST_TOKENS
    price = Price.objects.at(settings.LLM_MODEL, timezone.now())
    dollars = price.cost(given, taken) if price else None
    return {"calls": MOST_CALLS, "tokens": given + taken, "model": settings.LLM_MODEL, "dollars": dollars}


def test_page(test: ConnectionTest) -> dict[str, Any]:
    """One test as it is now; `differences` are those to the profile that it was compared with."""
    found = profiles_of(test)
    return {
        "test": test,
        "differences": compare_provider_profiles(*found, tried=list_tested_abilities(test)) if found else [],
        "has_price": Price.objects.at(test.model, timezone.now()) is not None,
        "compared": found is not None,
    }


def profiles_of(test: ConnectionTest) -> tuple[ProviderProfile, ProviderProfile] | None:
    """The profile that was compared with, and the server's own; None without a result or a readable file."""
    if not test.toml:
        return None
    try:
        return load_provider_profile(test.profile), parse_provider_profile(test.toml, "probed")
    except UnknownProfile:
        return None


def list_tested_abilities(test: ConnectionTest) -> tuple[str, ...]:
    """The abilities that the test has looked at."""
    asked = {"prompt_caching": test.caching, "batches": test.batches}
    return (*COMPARED, *(name for name, wanted in asked.items() if wanted))


def compare_provider_profiles(
    declared: ProviderProfile, found: ProviderProfile, *, tried: tuple[str, ...]
) -> list[tuple[str, str, str]]:
    """Where the server is not what the profile says, as (what, profile, server) in words.

    Sampling is compared by what the profile would send in vain.
    """
    pairs = [(name, getattr(declared, name), getattr(found, name)) for name in tried]
    rows = [
        (name.replace("_", " "), format_profile_value(ours), format_profile_value(theirs))
        for name, ours, theirs in pairs
        if ours != theirs
    ]
    refused = sorted(set(declared.sampling) - set(found.sampling))
    return [*rows, ("sampling", ", ".join(refused), "refused")] if refused else rows


def format_profile_value(value: object) -> str:
    words = {True: "yes", False: "no"}
    return words[value] if isinstance(value, bool) else str(value).replace("_", " ")
