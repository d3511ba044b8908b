"""Launch a build: what an admin types, its estimate where it is paid, and the order that is launched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.accounts.roles import FORM, Role, require_role
from annotation.builds.drift.watched_pairs import PAIRS
from annotation.builds.launch.estimates import confirmation
from annotation.builds.launch.launcher import MOST_DOLLARS, MOST_PAIRS, why_no_batches
from annotation.builds.launch.order import USUAL_ENCODERS, Judge, LaunchRefused, Order
from annotation.builds.launch.paper_profile import (
    ENCODERS,
    as_in_the_paper,
    find_contradicting_mining,
    find_contradicting_switches,
    format_paper_switch,
    mining_of_paper,
    rule_of_paper,
)
from annotation.builds.launch.prices import is_priced, unknown_price
from annotation.derived.derivation import EXPERTS, Decision, OrderPlan, Who, orders_of
from annotation.derived.experts_queue import queue_pairs_for_experts
from annotation.jobs.providers import find_token_counter
from annotation.llm.sampling import EXAMPLE, LONGER
from annotation.models import Build
from annotation.models.builds.build import ReviewRule
from annotation.web.builds.folds import Fold, build_fold
from annotation.web.builds.provider_form import AnsweringForm, SkippingForm, order_field, usual_model
from annotation.web.builds.review_rule import review_rule_field
from annotation.web.label_audit import given_pairs
from annotation.web.money import estimates
from annotation.web.shared.forms import set_choices, set_queryset
from annotation.web.shared.mining_words import QUERY_RULES, RULES, TEXTS
from annotation.web.shared.requests import render_form
from retrieval.filters import TEXT_OPTIONS, Rule
from retrieval.filters.queries import query_rule
from retrieval.fusion import WORDS, Fusion
from retrieval.given_pairs import NoPairs
from retrieval.mining import known_encoders
from retrieval.mining.search_scope import count_search_scope
from retrieval.models import Collection, PairList
from retrieval.nearest import INDEXES

JUDGES = (
    (Judge.AGENTS.value, "test-driven agents"),
    (Judge.SINGLE_EXACT.value, "one model alone: exact match"),
    (Judge.SINGLE_HALF.value, "one model alone: 50 % match"),
)

BESIDE = (*JUDGES, (EXPERTS, "experts, in Review and for studies"))
"""Who else may judge given pairs: a build each, and a queue for people."""

PROFILES = (("", "the switches as they are set here"), ("paper", "as in the paper"))


class ScopeForm(forms.Form):
    """What decides which functions are searched, and how many pairs that makes."""

    snippets = forms.ModelChoiceField(Collection.objects.filter(kind=Collection.Kind.SNIPPETS))
    rule = forms.ChoiceField(choices=RULES)
    queries = forms.ModelChoiceField(Collection.objects.filter(kind=Collection.Kind.QUERIES), required=False)
    k = forms.IntegerField(required=False, min_value=1)
    limit = forms.IntegerField(required=False, min_value=1)


def price_field(label: str, help_text: str) -> forms.DecimalField:
    """Dollars per million tokens, which may be left out."""
    return forms.DecimalField(
        required=False,
        min_value=0,
        max_value=MOST_DOLLARS,
        max_digits=12,
        decimal_places=6,
        label=label,
        help_text=help_text,
    )


FOLDED: Final[Mapping[str, tuple[str, ...]]] = {
    "pairs": ("limit", "given", "rule", "text_option", "query_rules"),
    "mining": ("more_encoders", "fusion", "approximate"),
    "agents": (
        *("annotator", "profile", "fix_rounds", "rewrites", "rounds", "reviews_needed"),
        *("screen_by_query", "second_test", "hides_reviews", "fresh", "batches", "skip_canary"),
        *("sampling", "seed", "no_reader", "no_neighbour", "show_report", "reason"),
    ),
}
"""What is not asked of everybody, by the part of the form."""


class LaunchForm(SkippingForm, AnsweringForm):
    """Fields of a build. Which collections and recordings there are is looked up when it is made."""

    name = forms.CharField(max_length=120, label="Name")
    given = forms.ChoiceField(
        required=False,
        label="Given pairs",
        help_text="The pairs that a benchmark labels, or a file lists, with an audit of their labels.",
    )
    beside = forms.MultipleChoiceField(
        required=False, choices=BESIDE, widget=forms.CheckboxSelectMultiple, label="The same pairs also by"
    )
    queries = forms.ModelChoiceField(
        Collection.objects.none(), label="Queries", empty_label="choose …", required=False
    )
    snippets = forms.ModelChoiceField(
        Collection.objects.none(), label="Functions", empty_label="choose …", required=False
    )
    encoders = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, label="Encoders", required=False, initial=list(USUAL_ENCODERS)
    )
    more_encoders = forms.CharField(
        required=False,
        label="Other encoders",
        help_text="By folder or hub id, for example codebert:/models/mine. Separate several with commas.",
    )
    k = order_field("k", "Functions for each query.", label="k", required=True)
    rule = forms.ChoiceField(
        choices=RULES,
        label="Rule",
        help_text="Which functions are searched. As in the paper: those that are testable.",
    )
    query_rules = forms.MultipleChoiceField(
        choices=QUERY_RULES,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Queries to mine",
        initial=[],
    )
    text_option = forms.ChoiceField(
        choices=[(option, TEXTS[option]) for option in TEXT_OPTIONS], label="Text that is searched"
    )
    fusion = forms.ChoiceField(
        required=False,
        choices=tuple(WORDS.items()),
        label="Fusion",
        help_text="How the scores of several encoders are combined.",
    )
    approximate = forms.ChoiceField(
        required=False,
        choices=[("", "exact: every vector is compared"), *INDEXES.items()],
        label="Search",
        help_text="For encoders of vectors. An approximate index misses some of the best functions; its "
        "recall, measured against exact search on a sample of the queries, is shown on the build's page.",
    )
    price_in = price_field("Price of tokens in", "Dollars per million tokens of the model.")
    price_out = price_field("Price of tokens out", "A launch keeps both as the model’s price.")
    drift_check = order_field("drift_check")
    batches = order_field(
        "batches",
        "Screener and test writer, live: half the price, and answers within a day, most within an hour.",
        label="Ask by batch",
    )
    limit = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_PAIRS,
        label="At most this many pairs",
        help_text="Empty: all.",
    )
    fix_rounds = order_field("fix_rounds", "For missing modules.", label="Fixing rounds", required=True)
    annotator = forms.ChoiceField(
        required=False, choices=JUDGES, label="Annotator", help_text="Who decides each pair, and how."
    )
    profile = forms.ChoiceField(
        required=False,
        choices=PROFILES,
        label="Profile",
        help_text="As in the paper: one screener request a pair, one test, two fixing rounds. Mined by "
        "codebert (tuned on CodeSearchNet), unixcoder and codet5p: mean, 20 functions, testable ones.",
    )
    rewrites = order_field(
        "rewrites", "How often a test program that redefines its function goes back. The paper: 0."
    )
    screen_by_query = order_field(
        "screen_by_query",
        "The screener sees all functions of a query at once: fewer tokens, another annotator.",
    )
    second_test = order_field(
        "second_test", "Write another test if the first one proved nothing. Not in the paper."
    )
    no_reader = forms.BooleanField(
        required=False,
        label="Without a reader",
        help_text="The arbiter alone decides unclear pairs: cheaper, but no two judges can differ.",
    )
    no_neighbour = forms.BooleanField(
        required=False,
        label="Without a neighbour",
        help_text="No test has to fail on code that does a similar task: cheaper, weaker tests.",
    )
    show_report = forms.BooleanField(
        required=False,
        label="Judges read the report",
        help_text="Arbiter and tie breaker see what the run of the test showed. That was measured to "
        "give no better labels. People see it in any case.",
    )
    rounds = order_field(
        "rounds", "How often each pair is judged. Each round asks the agents again, and costs again."
    )
    reviews_needed = review_rule_field(required=False, empty_value=ReviewRule.AGREED)
    hides_reviews = order_field(
        "hides_reviews",
        "Experts see others’ labels of a pair once their own is saved.",
        label="Hide experts’ labels",
    )
    fresh = order_field(
        "fresh",
        "Replies of earlier builds are not reused; they are asked and paid for again.",
        label="Ask everything again",
    )
    seed = order_field("seed", "For the order in which a screener by query sees the functions.")
    sampling = forms.CharField(
        required=False,
        label="Sampling",
        help_text=f"As JSON, sent to the model unchanged, for example {EXAMPLE}. Empty: its defaults. "
        f"If replies are cut off, allow more tokens: {LONGER}. Part of the annotator.",
        max_length=1000,
    )
    reason = order_field("reason", "Kept in the build's history, with your name.", label="Why")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["drift_check"].help_text = (
            f"Every {settings.DRIFT_EVERY:,} settled cases, {PAIRS} pairs are asked again. If the answers "
            "shift by more than chance, the model has changed, and the build pauses."
        )
        filled = Collection.objects.filter(size__gt=0)
        set_queryset(self, "queries", filled.filter(kind=Collection.Kind.QUERIES))
        set_queryset(self, "snippets", filled.filter(kind=Collection.Kind.SNIPPETS))
        set_choices(self, "given", given_pairs.list_given_pair_choices())
        set_choices(self, "encoders", [(choice.name, choice.name) for choice in known_encoders.to_choose()])

    def switches(self) -> tuple[forms.BoundField, ...]:
        """What the annotator may do beyond the paper, and what experts see."""
        return self["screen_by_query"], self["second_test"], self["hides_reviews"], self["fresh"]

    def judges(self) -> tuple[forms.BoundField, ...]:
        """Who judges unclear pairs, and what they see."""
        return self["no_reader"], self["no_neighbour"], self["show_report"]

    def folds(self) -> dict[str, Fold]:
        """The fields that few builds need, by the part of the form that they are folded in."""
        return {part: build_fold(self, names) for part, names in FOLDED.items()}

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if Build.objects.filter(name=name).exists():
            raise forms.ValidationError(f"There is already a build called “{name}”; choose another name.")
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        self.clean_source(cleaned)
        if cleaned.get("provider") == Build.Provider.LIVE:
            self.clean_live(cleaned)
        if cleaned.get("batches") and (why := why_no_batches(cleaned.get("provider", ""))):
            self.add_error("batches", why)
        if cleaned.get("profile"):
            self.clean_as_in_the_paper(cleaned)
        if cleaned.get("provider") == Build.Provider.RECORDED and not cleaned.get("recorded"):
            self.add_error("recorded", "Choose the file of recorded replies.")
        return cleaned

    def clean_source(self, cleaned: dict[str, Any]) -> None:
        """Where the pairs come from: they are given, or mined of two collections by encoders."""
        others = [name.strip() for name in cleaned.get("more_encoders", "").split(",")]
        cleaned["all_encoders"] = (*cleaned.get("encoders", ()), *filter(None, others))
        if cleaned.get("profile") and cleaned["all_encoders"] == USUAL_ENCODERS:
            cleaned["all_encoders"] = ENCODERS  # what the form proposes is no choice against the profile
        cleaned["list"] = None
        if cleaned.get("given"):
            try:
                cleaned["list"] = given_pairs.find_chosen_pair_list(cleaned["given"])
            except NoPairs as why:
                self.add_error("given", str(why))
            return
        if cleaned.get("beside"):
            self.add_error(
                "beside", "Several annotators can judge given pairs only. Choose pairs, or one annotator."
            )
        for name in ("queries", "snippets"):
            if not cleaned.get(name) and name not in self.errors:
                self.add_error(name, self.fields[name].error_messages["required"])
        if not cleaned["all_encoders"]:
            self.add_error("encoders", "Choose at least one encoder.")

    def clean_live(self, cleaned: dict[str, Any]) -> None:
        """What launching would refuse, beside the field that it is about."""
        model = cleaned.get("model", "").strip() or usual_model(Build.Provider.LIVE, "")
        typed = [cleaned.get("price_in") is not None, cleaned.get("price_out") is not None]
        if any(typed) and not all(typed):
            self.add_error("price_out" if typed[0] else "price_in", "Type both prices, or neither.")
        elif any(typed) or is_priced(model):
            return
        elif not cleaned.get("unpriced") and cleaned.get("budget") is None:
            self.add_error("unpriced", f"{unknown_price(model)} Type its price above, or tick this.")

    def clean_as_in_the_paper(self, cleaned: dict[str, Any]) -> None:
        """A switch or a choice of the mining that was set against the profile, beside its field."""
        against = {name: format_paper_switch(name) for name in find_contradicting_switches(cleaned)}
        if not cleaned.get("given") and not {"k", "rule", "text_option"} & self.errors.keys():
            words = mining_of_paper()
            against |= {name: words[name] for name in find_contradicting_mining(self.mining_of(cleaned))}
        for name, told in against.items():
            self.add_error(name, f"As in the paper means {told}: set it so, or choose no profile.")

    def mining_of(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """What the fields say of a mining, as an order does; the usual rule counts as the paper's."""
        return {
            "encoders": cleaned["all_encoders"],
            "k": cleaned["k"],
            "fusion": cleaned.get("fusion") or Fusion.MEAN,
            "rule": rule_of_paper(Rule(int(cleaned["rule"]))),
            "text_option": cleaned["text_option"],
            "approximate": cleaned.get("approximate", ""),
        }

    @property
    def who(self) -> Who:
        """Who judges, of a valid form."""
        return Who.named([self.cleaned_data["annotator"] or Judge.AGENTS.value, *self.cleaned_data["beside"]])

    def order(self) -> Order:
        """The order of a valid form."""
        order = self.as_set()
        return as_in_the_paper(order) if self.cleaned_data["profile"] else order

    def as_set(self) -> Order:
        """What the fields say, before the profile counts."""
        values = self.cleaned_data
        given: PairList | None = values["list"]
        same = ("name", "k", "batches", "limit", "text_option", "approximate", "fix_rounds", "second_test")
        more = ("price_in", "price_out", "reviews_needed", "hides_reviews", "screen_by_query", "fresh")
        return Order(
            **{name: values[name] for name in (*same, *more, "sampling", "reason")},
            **self.answering(),
            queries=given.queries if given else values["queries"],
            snippets=given.snippets if given else values["snippets"],
            given=given,
            encoders=() if given else values["all_encoders"],
            skip_canary=self.skipped,
            drift_check=values["drift_check"] and values["provider"] == Build.Provider.LIVE,
            rule=Rule(int(values["rule"])),
            query_rule=query_rule(values["query_rules"]),
            fusion=Fusion(values["fusion"] or Fusion.MEAN),
            rewrites=1 if values["rewrites"] is None else values["rewrites"],
            reader=not values["no_reader"],
            neighbour=not values["no_neighbour"],
            withhold_report=not values["show_report"],
            rounds=values["rounds"] or 1,
            annotator=Judge(values["annotator"] or Judge.AGENTS),
            seed=1 if values["seed"] is None else values["seed"],
        )


@require_role(Role.ADMIN, FORM)
def new(request: HttpRequest) -> HttpResponse:
    """The form; what is paid is estimated first, and launched once the estimate is confirmed."""
    if request.method == "GET" and "scope" in request.GET:
        return show_search_scope(request)
    given = request.GET.get("given")  # pairs that a link to the form has chosen
    form = LaunchForm(request.POST or None, initial={"given": given} if given else {})
    if form.is_valid() and request.POST.get("step") != "change":
        try:
            return launch_or_estimate(request, form)
        except LaunchRefused as why:
            form.add_error(None, str(why))
    choices, ticked = known_encoders.to_choose(), form["encoders"].value()
    unready = sum(bool(choice.missing) and choice.name not in ticked for choice in choices)
    return render_form(request, "annotation/builds/new.html", form, encoders=choices, unready=unready)


def show_search_scope(request: HttpRequest) -> HttpResponse:
    """How many functions the chosen rule lets a mining search, and how many pairs that makes at most; nothing
    before functions are chosen, and no pairs before queries are.
    """
    form = ScopeForm(request.GET)
    if not form.is_valid():
        return render(request, "annotation/builds/new.html#scope", {})
    found = form.cleaned_data
    scope = count_search_scope(found["snippets"], Rule(int(found["rule"])))
    context: dict[str, Any] = {"scope": scope, "scope_of": found["snippets"]}
    if found["queries"] and found["k"]:
        pairs = found["queries"].size * min(found["k"], scope.searched)
        context["pairs"] = min(pairs, found["limit"] or pairs)
    return render(request, "annotation/builds/new.html#scope", context)


def launch_or_estimate(request: HttpRequest, form: LaunchForm) -> HttpResponse:
    """The launched build, or the page that asks whether its estimate will do. Raises LaunchRefused.

    Several annotators of given pairs have a build each, and are estimated together.
    """
    who, order = form.who, form.order()
    plans = [OrderPlan(single) for single in orders_of(order, who)]
    if order.provider != Build.Provider.LIVE:
        return finish_launch(request, order, who, [plan.launch(Decision(request.user)) for plan in plans])
    for plan in plans:
        plan.refuse_bad()
    words = request.POST.getlist("estimate")
    notice = ""
    if request.POST.get("step") == "launch":
        told = [*words, *[""] * len(plans)][: len(plans)]
        pairs = list(zip(plans, told, strict=True))
        notice = next(filter(None, (confirmation.why_stale(plan.order, word) for plan, word in pairs)), "")
        if not notice:
            builds = [plan.launch(Decision(request.user, word=word)) for plan, word in pairs]
            return finish_launch(request, order, who, builds)
    found = [plan.estimate(find_token_counter(order.provider, order.model)) for plan in plans]
    pages = [
        estimates.estimate_page(plan.order, figures, notice)
        for plan, figures in zip(plans, found, strict=True)
    ]
    context = {"page": pages[0], "more": pages[1:], "form": form}
    return render(request, "annotation/builds/estimate.html", context)


def finish_launch(request: HttpRequest, order: Order, who: Who, builds: list[Build]) -> HttpResponse:
    """To the build, or of several to their audit; what experts are to judge is queued first."""
    if who.experts:
        builds = [*builds, queue_pairs_for_experts(order, who, request.user)]
    if who.several:
        messages.success(request, f"Launched: {', '.join(build.name for build in builds)}.")
        return redirect("build-audit", pk=builds[0].pk)
    return redirect("build", pk=builds[0].pk)
