"""What the page shows on which a build's pairs are published as a benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms

from annotation.models import Build
from annotation.releasing import LONGEST_NAME, Outlook, PublishRefused, Wish, outlook
from retrieval.evaluation.merge_rule import WORDS
from retrieval.models import Pool


class PublishForm(forms.Form):
    name = forms.CharField(
        max_length=LONGEST_NAME,
        label="Name of the benchmark",
        help_text="A name that exists gets another version; the versions before it stay as they are.",
    )
    pool = forms.ChoiceField(
        choices=Pool.choices, widget=forms.RadioSelect, label="Systems that are measured search …"
    )

    def wish(self, build: Build) -> Wish:
        """What a valid form asks for."""
        values = self.cleaned_data
        return Wish(values["name"], build.mining, build, Pool(values["pool"]))


@dataclass(frozen=True, slots=True)
class PublishPage:
    """`problem` says why the build's pairs can't be published now; then there is no outlook."""

    build: Build
    rule: str
    outlook: Outlook | None = None
    problem: str = ""


def initial(build: Build) -> dict[str, Any]:
    return {"name": build.name, "pool": Pool.COLLECTION}


def publish_page(build: Build) -> PublishPage:
    try:
        return PublishPage(build, WORDS, outlook(Wish(build.name, build.mining, build)))
    except PublishRefused as why:
        return PublishPage(build, WORDS, problem=str(why))
