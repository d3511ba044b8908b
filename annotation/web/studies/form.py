"""The form of a study: what an admin fills in, as a `creation.Order`, and a stored draft as a form again."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import NON_FIELD_ERRORS
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict

from annotation.accounts.roles import builds_visible_to
from annotation.models import Build, Condition, Guideline, Study
from annotation.schemas.studies.studies import Allocation, AssumedRates, SampleWish, Stratifier, StudyIn
from annotation.stats.planning.planner import Assumptions
from annotation.studies.plan.creation import (
    CHOICES,
    FEWEST_RATERS,
    MOST_CAPACITY,
    TEXTS,
    ConditionWish,
    Order,
    RaterWish,
)
from annotation.studies.plan.effort import usual_seconds
from annotation.studies.plan.forecast import find_pilot_studies
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.ready_guidelines import READY
from annotation.studies.sampling.planted_pairs import LONGEST_FILE
from annotation.web.builds.folds import Fold, build_fold
from annotation.web.shared.forms import Lines, schema_field, set_queryset
from annotation.web.shared.pagination import whole_number
from retrieval.models import Annotator

KINDS: Final = (Study.Kind.RATING, Study.Kind.PAIRWISE)
INFORMATION: Final = (
    "You are asked to judge pairs of a query and a piece of code. Your labels are stored under a pseudonym, "
    "with the time that you took; they are published without your name. You can stop at any time."
)
TOO_FEW_RATERS: Final = (
    f"A pair needs {FEWEST_RATERS} raters in each condition, or one. Two who disagree have no majority, so "
    "such a pair has no label."
)
Bound = forms.BoundField
TYPED: Final = ("prevalence", "rater_accuracy", "annotator_accuracy", "clustering", "skipped")
USUAL: Final = asdict(Assumptions(pairs=1))
study_field = partial(schema_field, StudyIn)
sample_field = partial(schema_field, SampleWish)
share_field = partial(schema_field, AssumedRates)


PARTS: Final[Mapping[int, tuple[str, ...]]] = {
    1: ("name", "question", "kind", "purpose", "scale"),
    2: (
        *("builds", "against", "size", "per_query", "strata", "allocation", "seed"),
        *("planted_file", "planted"),
    ),
    3: (
        "order",
        "docstring",
        "ties",
        "one_more",
        "needs_run",
        "shows_origin",
        "asks_profile",
        "practice",
        "hourly_rate",
    ),
    4: (
        *("guideline", "ready", "information", "reference", "margin", "comparisons", "exclusions"),
        *("pilot", *TYPED),
    ),
}
"""The fields of each step; conditions and raters, whose fields are made with the form, are of the third."""
TITLES: Final = {1: "What is asked", 2: "Sample", 3: "People", 4: "Plan and texts"}
PEOPLE: Final = 3
FOLDED: Final[Mapping[str, tuple[str, ...]]] = {
    "sample": ("per_query", "strata", "allocation", "seed", "against"),
    "people": PARTS[PEOPLE],
    "plan": ("margin", "comparisons", "exclusions"),
    "rates": ("pilot", *TYPED),
}
"""What few studies change, by the part of the form."""


class StudyForm(forms.Form):
    """Fields of a study. Builds, guidelines and people are looked up when it is made."""

    name = forms.CharField(max_length=120, label="Name")
    question = study_field(
        "question", "What the study is to find out; part of the plan.", widget=Lines(attrs={"rows": 2})
    )
    kind = forms.ChoiceField(choices=[(kind.value, kind.label) for kind in KINDS], label="Kind")
    purpose = forms.ChoiceField(choices=Study.Purpose.choices, label="Purpose")
    scale = forms.ChoiceField(choices=Study.Scale.choices, label="Scale")
    builds = forms.ModelMultipleChoiceField(
        Build.objects.none(),
        label="Builds",
        help_text="Pairs are drawn from all of these builds; a pair that several have is taken once.",
    )
    against = forms.ModelChoiceField(
        Annotator.objects.none(),
        required=False,
        label="Compared with imported labels",
        empty_label="no: with the second build",
        help_text="Pairwise only: the other benchmark, where it is no build.",
    )
    size = sample_field("size", label="Pairs", initial=300, required=True)
    per_query = sample_field(
        "per_query",
        "1 is best: pairs of one query are not independent. 0: no limit.",
        label="Pairs a query",
        required=True,
    )
    strata = forms.MultipleChoiceField(
        required=False,
        choices=[(stratifier.value, stratifier.words) for stratifier in Stratifier],
        widget=forms.CheckboxSelectMultiple,
        label="Strata",
    )
    allocation = forms.ChoiceField(
        required=False,
        choices=[
            (Allocation.PROPORTIONAL.value, "as in the builds"),
            (Allocation.EQUAL.value, "as many of each"),
        ],
        label="Pairs of each stratum",
        initial=Allocation.PROPORTIONAL.value,
    )
    seed = sample_field("seed", "The draw can be repeated.", required=True)
    planted_file = forms.FileField(required=False, label="Planted pairs, as a file", max_length=200)
    planted = forms.CharField(
        required=False,
        strip=False,
        max_length=LONGEST_FILE,
        widget=Lines(attrs={"rows": 4, "spellcheck": "false", "class": "mono"}),
        label="Planted pairs",
        help_text=(
            "CSV with a header: kind (onboarding or attention), answer, query and code or pair (its number); "
            "other is the second function of a comparison, reason says why the answer is right. "
            "They are marked and never counted."
        ),
    )
    reference = forms.ChoiceField(
        choices=Condition.Kind.choices,
        initial=Condition.Kind.OWN_TESTS,
        label="Reference",
        help_text="The condition whose majority counts as true.",
    )
    comparisons = forms.CharField(
        required=False,
        max_length=4_000,
        widget=Lines(attrs={"rows": 3}),
        label="Comparisons",
        help_text="Rows of the main table, a line each: agents vs reading. None of a pairwise study.",
    )
    margin = forms.FloatField(
        required=False,
        label="Margin",
        help_text="Of non-inferiority, a share: 0.05 is five points. None of a pairwise study.",
    )
    exclusions = study_field(
        "exclusions",
        "By which ratings or raters are left out.",
        label="Exclusion rules",
        widget=Lines(attrs={"rows": 2}),
    )
    order = forms.ChoiceField(choices=Study.Order.choices, label="Order", initial=Study.Order.values[0])
    docstring = forms.ChoiceField(
        choices=Study.Docstring.choices, label="Docstring", initial=Study.Docstring.values[0]
    )
    ties = study_field("ties", label="Pairwise: raters may say that both are as good")
    one_more = forms.BooleanField(
        required=False,
        initial=True,
        label="Where a pair’s planned raters split, ask one more who has not seen it",
    )
    needs_run = study_field("needs_run", label="Own tests: a label needs a finished run")
    shows_origin = study_field("shows_origin", label="Link to each function’s origin")
    asks_profile = study_field("asks_profile", label="Raters must say who they are")
    practice = study_field("practice", label="Practice: show raters the right label of each onboarding pair")
    guideline = forms.ModelChoiceField(
        Guideline.objects.none(), required=False, label="Guidelines", empty_label="none"
    )
    ready = forms.ChoiceField(
        required=False,
        choices=[("", "none"), *((key, wording.name) for key, wording in READY.items())],
        label="Ready guidelines",
        help_text="A text to start from, if you choose no guidelines. You can change it later.",
    )
    information = study_field(
        "information",
        "Accepted by each rater before the first pair.",
        label="Information text",
        initial=INFORMATION,
        widget=Lines(attrs={"rows": 4}),
    )
    pilot = forms.ModelChoiceField(
        Study.objects.none(),
        required=False,
        label="Rates of a pilot",
        empty_label="no pilot: as typed below",
        help_text="A study with ratings: its reference and its build’s annotator show who errs how often.",
    )
    prevalence = share_field("prevalence", "Of all pairs.", label="Matches (share)")
    rater_accuracy = share_field("rater_accuracy", label="A rater is right in (share)")
    annotator_accuracy = share_field("annotator_accuracy", label="The agents are right in (share)")
    clustering = share_field(
        "clustering",
        "0: none. Used with a pilot of one pair a query.",
        label="Similarity of a query’s pairs (share)",
    )
    skipped = share_field("skipped", label="Skipped (share)")
    hourly_rate = study_field(
        "hourly_rate", "For the cost that is shown.", label="Dollars an hour", initial=0
    )

    def __init__(self, *args: Any, user: User, people: Sequence[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.people, self.usual = list(people), usual_seconds()
        lists: Mapping[str, Any] = {
            "builds": builds_visible_to(user).filter(opened=True).order_by("-pk"),
            "against": Annotator.objects.filter(kind=Annotator.Kind.ORIGINAL).order_by("-pk"),
            "guideline": Guideline.objects.order_by("name", "-version"),
            "pilot": find_pilot_studies().order_by("-pk"),
        }
        for name, rows in lists.items():
            set_queryset(self, name, rows)
        for name in TYPED:
            self.fields[name].widget.attrs["placeholder"] = str(USUAL[name])
        # What was proposed comes back with the form: it is no change then.
        sent = whole_number(str(self.data.get("seed", "")))
        self.fields["seed"].initial = secrets.randbelow(2**31) if sent < 0 else sent
        self.add_conditions()
        self.add_raters()

    def add_conditions(self) -> None:
        for kind, label in Condition.Kind.choices:
            chosen = kind == Condition.Kind.OWN_TESTS
            self.fields[f"with_{kind}"] = forms.BooleanField(required=False, label=label, initial=chosen)
            self.fields[f"raters_{kind}"] = forms.IntegerField(
                required=False,
                min_value=1,
                max_value=100,
                initial=FEWEST_RATERS,
                label=f"Raters a pair, {label}",
                help_text="One: many pairs are seen, and no label counts as true." if chosen else "",
            )
            self.fields[f"seconds_{kind}"] = forms.FloatField(
                required=False,
                min_value=1,
                max_value=36_000,
                initial=round(self.usual[kind][0]),
                label=f"Seconds a rating, {label}",
            )

    def add_raters(self) -> None:
        choices = [("", "not in it"), *Condition.Kind.choices]
        for person in self.people:
            self.fields[f"condition_{person.pk}"] = forms.ChoiceField(
                required=False, choices=choices, label=f"Condition of {person}"
            )
            self.fields[f"capacity_{person.pk}"] = forms.IntegerField(
                required=False,
                min_value=1,
                max_value=MOST_CAPACITY,
                initial=300,
                label=f"Capacity of {person}",
            )

    def folds(self) -> dict[str, Fold]:
        """What few studies change, by the part of the form that it is folded in."""
        return {part: build_fold(self, names) for part, names in FOLDED.items()}

    def keep_errors_of(self, part: int) -> None:
        """Forget what is wrong with fields of other steps: nobody has come there yet, or has left them."""
        for name in [name for name in self.errors if part_of(name) != part]:
            del self.errors[name]

    @property
    def first_wrong_part(self) -> int | None:
        """The first step with a field that needs another look; None where there is none."""
        return min((part_of(name) for name in self.errors if name != NON_FIELD_ERRORS), default=None)

    @property
    def condition_rows(self) -> Iterator[tuple[Bound, Bound, Bound, str]]:
        """Each condition's three fields, and where its usual time comes from."""
        for kind in Condition.Kind.values:
            count = self.usual[kind][1]
            source = f"median of {count:,} ratings" if count else "assumed"
            yield self[f"with_{kind}"], self[f"raters_{kind}"], self[f"seconds_{kind}"], source

    @property
    def rater_rows(self) -> Iterator[tuple[User, Bound, Bound]]:
        """Each expert with the fields that enrol them."""
        for person in self.people:
            yield person, self[f"condition_{person.pk}"], self[f"capacity_{person.pk}"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for kind in Condition.Kind.values:
            if cleaned.get(f"with_{kind}") and 1 < (cleaned.get(f"raters_{kind}") or 1) < FEWEST_RATERS:
                self.add_error(f"raters_{kind}", TOO_FEW_RATERS)
        file: UploadedFile[bytes] | None = cleaned.get("planted_file")
        if file:
            cleaned["planted"] = self.read(file)
            # So that the next look at the form has what the browser forgets.
            assert isinstance(self.data, QueryDict), "files come with a posted form"
            data = self.data.copy()
            data["planted"] = cleaned["planted"]
            self.data = data
        return cleaned

    def read(self, file: UploadedFile[bytes]) -> str:
        if (file.size or 0) > LONGEST_FILE:
            self.add_error("planted_file", f"Larger than {LONGEST_FILE // 1_000_000} MB.")
            return ""
        try:
            return str(file.read(), "utf-8-sig")
        except UnicodeDecodeError:
            self.add_error("planted_file", "The file is no UTF-8 text.")
            return ""

    def as_order(self) -> Order:
        """The order of a valid form. Raises StudyRefused where a comparison can't be read."""
        values = self.cleaned_data
        plain = {name: values[name] for name in ("name", "planted", *CHOICES, *TEXTS)}
        if values["kind"] == Study.Kind.PAIRWISE:
            plain |= {"scale": Study.Scale.PREFERENCE, "against": values["against"]}
        return Order(
            **plain,
            builds=tuple(values["builds"]),
            wish=self.wish(),
            conditions=tuple(self.conditions()),
            raters=tuple(self.raters()),
            comparisons=comparisons_of(values["comparisons"]),
            hourly_rate=values["hourly_rate"] or 0.0,
            rates=AssumedRates(
                pilot=values["pilot"] and values["pilot"].pk, **{name: values[name] for name in TYPED}
            ),
        )

    def wish(self) -> SampleWish:
        values = self.cleaned_data
        return SampleWish(
            size=values["size"],
            seed=values["seed"],
            per_query=values["per_query"],
            strata=tuple(map(Stratifier, values["strata"])),
            allocation=Allocation(values["allocation"] or Allocation.PROPORTIONAL),
        )

    def conditions(self) -> Iterator[ConditionWish]:
        values = self.cleaned_data
        for kind in Condition.Kind.values:
            if values[f"with_{kind}"]:
                seconds = values[f"seconds_{kind}"] or self.usual[kind][0]
                yield ConditionWish(kind, values[f"raters_{kind}"] or FEWEST_RATERS, seconds)

    def raters(self) -> Iterator[RaterWish]:
        values = self.cleaned_data
        for person in self.people:
            condition = values[f"condition_{person.pk}"]
            if condition:
                yield RaterWish(person, condition, values[f"capacity_{person.pk}"] or values["size"])


def part_of(name: str) -> int:
    """The step that a field is of."""
    return next((part for part, names in PARTS.items() if name in names), PEOPLE)


def comparisons_of(text: str) -> tuple[tuple[str, str], ...]:
    """A comparison a line: two rows of the main table with `vs` between. Raises StudyRefused."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        one, _, other = (part.strip() for part in line.partition(" vs "))
        if not one or not other:
            raise StudyRefused(f"A comparison reads like “agents vs reading”, not {line[:80]!r}.")
        found.append((one, other))
    return tuple(found[:50])


def initial_of(study: Study) -> dict[str, Any]:
    """What a draft's form is filled with."""
    kept = study.sample
    wish: Mapping[str, Any] = kept.get("wish", {})
    found: dict[str, Any] = {name: getattr(study, name) for name in ("name", *CHOICES, *TEXTS)}
    found |= {
        name: wish[name] for name in ("size", "seed", "per_query", "strata", "allocation") if name in wish
    }
    found |= {
        "builds": kept.get("builds", []),
        "against": kept.get("against"),
        "planted": kept.get("planted_csv", ""),
        "hourly_rate": kept.get("hourly_rate", 0),
        **kept.get("rates", {}),
        "comparisons": "\n".join(" vs ".join(pair) for pair in study.comparisons),
    }
    return found | conditions_of(study) | raters_of(study)


def conditions_of(study: Study) -> dict[str, Any]:
    found: dict[str, Any] = {f"with_{kind}": False for kind in Condition.Kind.values}
    for condition in study.conditions.all():
        found |= {f"with_{condition.kind}": True, f"raters_{condition.kind}": condition.raters}
        if condition.kind in study.sample.get("seconds", {}):
            found[f"seconds_{condition.kind}"] = study.sample["seconds"][condition.kind]
    return found


def raters_of(study: Study) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for enrolment in study.enrolments.select_related("condition"):
        found[f"condition_{enrolment.user_id}"] = enrolment.condition.kind
        found[f"capacity_{enrolment.user_id}"] = enrolment.capacity
    return found
