"""Who answers for the agents, what that may cost, and the canary: fields of every form that orders work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings

from annotation.llm.sampling import NotSampling, sampling_of
from annotation.models import Build
from annotation.schemas.builds.builds import Order as ApiOrder
from annotation.web.shared.forms import schema_field, set_choices
from retrieval.texts.hostile import mark_hostile_characters

order_field = partial(schema_field, ApiOrder)


class AnsweringForm(forms.Form):
    """Provider, recording, model and budget. Which recordings there are is looked up when it is made."""

    provider = forms.ChoiceField(
        choices=Build.Provider.choices,
        widget=forms.RadioSelect,
        initial=Build.Provider.EXCHANGE,
        label="Who answers for the agents",
    )
    recorded = forms.ChoiceField(
        required=False,
        label="Recorded replies",
        choices=[],
        help_text="The sample’s were recorded with the rule “testable, as in the paper”.",
    )
    model = forms.CharField(
        max_length=120,
        required=False,
        label="Model",
        help_text="Empty: the configured model when live, the recording's own when recorded.",
    )
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=10,
        decimal_places=4,
        label="Budget in dollars",
        help_text="Empty: no cap. The build pauses before it would spend more.",
    )
    unpriced = order_field(
        "unpriced", "Costs are then not counted, and no budget can be kept.", label="Run without a price"
    )

    def __init__(self, *args: Any, also_recorded: str = "", **kwargs: Any) -> None:
        """`also_recorded` is a recording that may be chosen wherever it lies."""
        super().__init__(*args, **kwargs)
        known = {also_recorded: also_recorded} if also_recorded else {}
        known |= {str(path): describe_recording(path) for path in find_recording_files()}
        set_choices(self, "recorded", [("", "choose …"), *known.items()])

    def clean_sampling(self) -> dict[str, Any]:
        """Of the forms that have such a field."""
        try:
            return dict(sampling_of(mark_hostile_characters(self.cleaned_data["sampling"])))
        except NotSampling as error:
            raise forms.ValidationError(str(error)) from error

    def answering(self) -> dict[str, Any]:
        """Who answers and the money of a valid form, as an order and every kind's wish call them."""
        values = self.cleaned_data
        recorded = values["recorded"] if values["provider"] == Build.Provider.RECORDED else ""
        return {
            "provider": values["provider"],
            "recorded": recorded,
            "model": values["model"].strip() or usual_model(values["provider"], recorded),
            "budget": values["budget"],
            "unpriced": values["unpriced"],
        }


def find_recording_files() -> Iterator[Path]:
    """Files of recorded replies that may be replayed: the sample's, and those in the data folder."""
    sample = Path(settings.BASE_DIR) / "sample" / "replies.jsonl"
    yield from [sample] if sample.exists() else []
    yield from sorted((Path(settings.COSQA_HOME) / "recorded").glob("*.jsonl"))


def recorded_model(path: Path) -> str:
    """The model that a recording names in its first line: its requests were made for that name."""
    with path.open(encoding="utf-8") as lines:
        try:
            return str(json.loads(next(lines, "{}")).get("model", ""))
        except ValueError:
            return ""  # the launch form only proposes it; reading the file in earnest names the bad line


def usual_model(provider: str, recorded: str) -> str:
    """The model where none was typed; with file exchange whoever answers may be any model."""
    if provider == Build.Provider.LIVE:
        return str(settings.LLM_MODEL)
    return (recorded_model(Path(recorded)) if recorded else "") or "any"


def describe_recording(path: Path) -> str:
    model = recorded_model(path)
    return f"{path.parent.name}/{path.name}" + (f" (of {model})" if model else "")


class SkippingForm(forms.Form):
    """A tick, and the reason that it takes."""

    skip_canary = forms.BooleanField(required=False, label="Skip the canary")
    skip_canary_because = order_field(
        "skip_canary", "Kept in the build's history, with your name.", label="Why the canary is skipped"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["skip_canary"].help_text = canary_words()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("skip_canary") and not cleaned.get("skip_canary_because", "").strip():
            self.add_error("skip_canary_because", "Give a reason, or let the canary go first.")
        return cleaned

    @property
    def skipped(self) -> str:
        """Why a valid form skips the canary; empty where it does not."""
        values = self.cleaned_data
        return values["skip_canary_because"] if values["skip_canary"] else ""


def canary_words() -> str:
    """What a canary is, and which builds have one."""
    return (
        f"A live build of more than {max(settings.CANARY_ABOVE, settings.CANARY_CASES):,} cases (pairs times "
        f"rounds) judges {settings.CANARY_CASES:,} random ones first, then waits until you have seen what "
        "they cost."
    )
