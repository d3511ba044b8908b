"""The page that tests a connection: the form, what a test costs, and what tests have found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django import forms
from django.conf import settings
from django.utils import timezone

from annotation.connecting import Wanted
from annotation.llm.probing import MOST_CALLS, MOST_TOKENS, TOKENS_A_QUESTION
from annotation.llm.profiles import PROFILES, ProviderProfile, UnknownProfile, profile, read
from annotation.models import ConnectionTest, Price

SHOWN: Final = 10
LONGEST_MODEL: Final = 120
COMPARED: Final = ("json_schema", "forced_tool", "strict_tool", "thinking", "needs_key", "same_model")


class ConnectionForm(forms.Form):
    """What is to be tested. The configured key is never shown, and goes nowhere but to its own address."""

    model = forms.CharField(max_length=LONGEST_MODEL, label="Model", help_text="The name as a build asks it.")
    profile = forms.ChoiceField(
        label="Compare with the profile", help_text="What the workbench takes the server to be able to do."
    )
    base_url = forms.CharField(
        max_length=400,
        required=False,
        label="Another address",
        help_text="Empty: the configured one. Another one, without /v1, is asked without a key.",
    )
    caching = forms.BooleanField(required=False, label="Try prompt caching too: about 12,000 tokens more")
    batches = forms.BooleanField(
        required=False, label="Try a batch too: one question, and up to two minutes of waiting for it"
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # a form's own arguments, passed on
        chosen = self.fields["profile"]
        assert isinstance(chosen, forms.ChoiceField)
        names = dict.fromkeys([settings.LLM_PROFILE, *PROFILES])
        chosen.choices = [(name, named(name)) for name in names]
        self.fields["model"].initial, chosen.initial = settings.LLM_MODEL, settings.LLM_PROFILE

    def wanted(self) -> Wanted:
        """The test of a valid form."""
        values = self.cleaned_data
        tried = {name: values[name] for name in ("caching", "batches")}
        return Wanted(values["model"], values["profile"], values["base_url"], **tried)


def named(name: str) -> str:
    """A profile's name, and whether it is the configured one."""
    return f"{name} (configured)" if name == settings.LLM_PROFILE else name


@dataclass(frozen=True)
class Cost:
    """What a test takes at most: requests, and nanodollars at the price of the configured model."""

    calls: int
    tokens: int
    model: str
    dollars: int | None


@dataclass(frozen=True)
class ConnectionPage:
    """The form's surroundings; `tests` are the newest ten."""

    address: str
    has_key: bool
    cost: Cost
    tests: tuple[ConnectionTest, ...]


@dataclass(frozen=True)
class Difference:
    """Where a profile and a server disagree, both in words."""

    what: str
    profile: str
    server: str


@dataclass(frozen=True)
class TestPage:
    """One test; `differences` are those to the profile that it was compared with."""

    __test__ = False

    test: ConnectionTest
    differences: tuple[Difference, ...]
    has_price: bool
    compared: bool


def connection_page() -> ConnectionPage:
    tests = ConnectionTest.objects.select_related("user")[:SHOWN]
    return ConnectionPage(settings.LLM_BASE_URL, bool(settings.ANTHROPIC_API_KEY), cost(), tuple(tests))


def cost() -> Cost:
    """The most that a test without caching can take."""
    given, taken = MOST_CALLS * TOKENS_A_QUESTION, MOST_CALLS * MOST_TOKENS
    price = Price.objects.at(settings.LLM_MODEL, timezone.now())
    dollars = price.cost(given, taken) if price else None
    return Cost(MOST_CALLS, given + taken, settings.LLM_MODEL, dollars)


def test_page(test: ConnectionTest) -> TestPage:
    """One test as it is now."""
    found = profiles_of(test)
    return TestPage(
        test=test,
        differences=differences(*found, tried=tried(test)) if found else (),
        has_price=Price.objects.at(test.model, timezone.now()) is not None,
        compared=found is not None,
    )


def profiles_of(test: ConnectionTest) -> tuple[ProviderProfile, ProviderProfile] | None:
    """The profile that was compared with, and the server's own; None without a result or a readable file."""
    if not test.toml:
        return None
    try:
        return profile(test.profile), read(test.toml, "probed")
    except UnknownProfile:
        return None


def tried(test: ConnectionTest) -> tuple[str, ...]:
    """The abilities that the test has looked at."""
    asked = {"prompt_caching": test.caching, "batches": test.batches}
    return (*COMPARED, *(name for name, wanted in asked.items() if wanted))


def differences(
    declared: ProviderProfile, found: ProviderProfile, *, tried: tuple[str, ...]
) -> tuple[Difference, ...]:
    """Where the server is not what the profile says; sampling by what the profile would send in vain."""
    pairs = [(name, getattr(declared, name), getattr(found, name)) for name in tried]
    rows = [
        Difference(name.replace("_", " "), spoken(ours), spoken(theirs))
        for name, ours, theirs in pairs
        if ours != theirs
    ]
    refused = sorted(set(declared.sampling) - set(found.sampling))
    if refused:
        rows.append(Difference("sampling", ", ".join(refused), "refused"))
    return tuple(rows)


def spoken(value: object) -> str:
    words = {True: "yes", False: "no"}
    return words[value] if isinstance(value, bool) else str(value).replace("_", " ")
