"""Who answers for the agents, and what that may cost: the fields of every form that orders work of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings

from annotation.models import Build


class AnsweringForm(forms.Form):
    """Provider, recording, model and budget. Which recordings there are is looked up when it is made."""

    provider = forms.ChoiceField(
        choices=Build.Provider.choices,
        widget=forms.RadioSelect,
        initial=Build.Provider.EXCHANGE,
        label="Who answers for the agents",
    )
    recorded = forms.ChoiceField(required=False, label="Recorded replies", choices=[])
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
    unpriced = forms.BooleanField(
        required=False,
        label="Run without a price",
        help_text="Costs then count as nothing, and no budget can hold.",
    )

    def __init__(self, *args: Any, also_recorded: str = "", **kwargs: Any) -> None:
        """`also_recorded` is a recording that may be chosen wherever it lies."""
        super().__init__(*args, **kwargs)
        recorded = self.fields["recorded"]
        assert isinstance(recorded, forms.ChoiceField), "as declared"
        known = {also_recorded: also_recorded} if also_recorded else {}
        known |= {str(path): described(path) for path in recordings()}
        recorded.choices = [("", "choose …"), *known.items()]


def recordings() -> Iterator[Path]:
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


def described(path: Path) -> str:
    model = recorded_model(path)
    return f"{path.parent.name}/{path.name}" + (f" (of {model})" if model else "")
