"""`manage.py build NAME …`: launch a build from the command line."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from annotation.accounts.actors import AtShell
from annotation.api.shared.estimates import figures_out
from annotation.builds.launch.estimates.figures import Estimate, Range
from annotation.builds.launch.order import USUAL_ENCODERS, Judge, LaunchRefused, Order
from annotation.builds.launch.paper_profile import (
    ENCODERS,
    NAMES,
    in_profile,
    is_codebert_untuned,
)
from annotation.derived import order_file
from annotation.derived.derivation import CHOICES, Decision, OrderPlan, Who, orders_of
from annotation.derived.experts_queue import queue_pairs_for_experts
from annotation.management import derived_options, given_options
from annotation.management.derived_options import parse_dollars, parse_sampling, quote_plan
from annotation.management.given_options import find_newest_collection
from annotation.management.lookups import find_build
from annotation.management.schema_options import add_schema_options
from annotation.models import Build
from annotation.models.builds.build import NANO
from annotation.schemas.builds.builds import Order as ApiOrder
from retrieval.filters import TEXT_OPTIONS, USUAL_RULE, Rule, TextOption, UnknownTextOption, text_option
from retrieval.filters.queries import QueryRule, query_rule
from retrieval.fusion import Fusion
from retrieval.management import spec_files
from retrieval.management.failures import add_json_option
from retrieval.management.light import LightCommand
from retrieval.management.options import add_renamed_option
from retrieval.mining import known_encoders
from retrieval.mining.search_scope import count_search_scope
from retrieval.models import Collection, PairList
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.texts.plurals import count_noun
from retrieval.texts.small_files import read_small_text

OF_API: Final = (
    *("k", "limit", "approximate", "screen_by_query", "reader", "neighbour", "second_test", "rewrites"),
    *("fix_rounds", "rounds", "seed", "drift_check", "batches", "reviews_needed"),
    "hides_reviews",
)
"""Options that the API's order has under the same name."""
SAME: Final = (*OF_API, "name", "provider", "model", "recorded", "unpriced", "skip_canary", "fresh")
"""Options that an order has under the same name."""

BESIDE_CONFIG: Final = frozenset(
    {"config", "show_config", "name", "encoder_file", "estimate", "yes", "json", "help", "version"}
    | {"verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"}
)
"""Options that may be typed with a file: they say nothing of the order."""


UNTUNED: Final = (
    "warning: this codebert was never tuned for search; the papers' was: codebert-csn:FOLDER (docs/mining.md)"
)


class Command(LightCommand):
    help = (
        "Launch a build: mine functions, or take given pairs, then annotate them ('cosqa serve' or "
        "'work' does the work)."
    )
    refusals = (LaunchRefused, known_encoders.BadSpec)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", help="of the new build")
        parser.add_argument(
            "--config", type=Path, metavar="FILE", help="the whole order as YAML, as --show-config writes it"
        )
        parser.add_argument(
            "--show-config", metavar="BUILD", help="print the order of a build as YAML, and launch nothing"
        )
        parser.add_argument("--queries", help="name of the collection of queries")
        add_renamed_option(parser, "--functions", "--snippets", help="name of the collection of functions")
        given_options.add_arguments(parser)
        parser.add_argument("--encoders", default="", help="comma-separated (default bm25,bow)")
        spec_files.add_argument(parser)
        derived_options.add_answering(
            parser, default=Build.Provider.EXCHANGE.value, model="any", like="(default %(default)s)"
        )
        for name, what in (("--price-in", "in"), ("--price-out", "out")):
            told = f"per million tokens {what}, for the estimate; a launch keeps it as the model's price"
            parser.add_argument(name, default="", metavar="DOLLARS", help=told)
        derived_options.add_decision(parser, needs_reason=False)
        parser.add_argument(
            "--estimate", action="store_true", help="only say what it would take; nothing is launched"
        )
        add_json_option(parser)
        add_schema_options(parser, ApiOrder, *OF_API, "fusion")
        self.add_mining(parser)
        self.add_annotator(parser)

    def add_mining(self, parser: CommandParser) -> None:
        """What is searched, and how."""
        parser.add_argument(
            "--rule",
            type=str.lower,
            choices=[*(str(rule.name).lower() for rule in Rule), "none"],
            default=str(USUAL_RULE.name).lower(),
            help="search only functions that pass it, of 'filters'; none: all (default %(default)s)",
        )
        parser.add_argument(
            "--query-rule",
            nargs="+",
            choices=[r.name.lower() for r in QueryRule if r.name],
            default=[],
            help="mine only queries in English, more than a bare identifier, no near-duplicates",
        )
        known = ", ".join(option.replace(" ", "_") for option in TEXT_OPTIONS)
        parser.add_argument(
            "--text", default="whole", help=f"what of a function is encoded: {known} (default %(default)s)"
        )

    def add_annotator(self, parser: CommandParser) -> None:
        """Who decides, how, and which requests are sent again."""
        parser.add_argument(
            "--annotator",
            type=given_options.parse_annotator_names,
            default=Who(),
            metavar="{" + ",".join(CHOICES) + "}",
            help="who decides: test-driven agents (default), or one model alone by one of its criteria; "
            "of given pairs several with commas, a build for each; experts: a queue for people",
        )
        parser.add_argument(
            "--profile",
            choices=NAMES,
            default="",
            help="paper: its prompts, every switch below, and its mining; first-paper: one model alone, "
            "five functions a query, both criteria, three rounds; another mining is refused",
        )
        parser.add_argument(
            "--show-report",
            action="store_true",
            help="arbiter and tie breaker read what the run showed; measured, that gave no better labels",
        )
        parser.add_argument(
            "--fresh", "--no-cache", action="store_true", help="use no reply that was given before"
        )
        parser.add_argument(
            "--sampling",
            default="",
            metavar="JSON",
            help='sent to the model unchanged, such as \'{"temperature": 0}\'; "max_tokens": how many tokens '
            "each reply may have at least; part of the annotator",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["show_config"]:
            self.show_config(find_build(options["show_config"]))
            return
        with known_encoders.use_spec_files(options["encoder_file"]):
            self.launch(options)

    def launch(self, options: dict[str, Any]) -> None:
        self.estimates: list[dict[str, Any]] = []
        order, who = self.load_config(options) if options["config"] else self.typed(options)
        options["provider"] = order.provider
        orders = orders_of(order, who)
        plans = [OrderPlan(own) for each in orders for own in in_profile(each, options["profile"])]
        words = [""] * len(plans)
        if options["estimate"] or options["provider"] == Build.Provider.LIVE:
            words = [self.estimated(plan) for plan in plans]
        facts: dict[str, Any] = {"estimates": self.estimates, "builds": []}
        if options["estimate"]:
            self.print_json(facts)
            return
        derived_options.require_launch_agreement(options["provider"], options)
        for plan, word in zip(plans, words, strict=True):
            build = plan.launch(Decision(AtShell.now(), word=word))
            self.tell_people(f"launched build {build.pk}: {build.name}")
            facts["builds"].append({"id": build.pk, "name": build.name, "state": build.state})
            if plan.order.given is None:
                self.tell_people(f"{count_search_scope(plan.order.snippets, plan.order.rule)}")
                if options["profile"] and is_codebert_untuned(plan.order.encoders):
                    self.tell_people(UNTUNED)
        if who.experts:
            build = queue_pairs_for_experts(order, who, AtShell.now())
            self.tell_people(f"queued for experts as build {build.pk}: {build.name}")
            facts["builds"].append({"id": build.pk, "name": build.name, "state": build.state})
        self.print_json(facts)

    def show_config(self, build: Build) -> None:
        order = order_file.order_of_build(build)
        if self.is_for_programs:
            values = order_file.order_values(order, Who((order.annotator,)))
            self.print_json({"build": build.name, "order": values})
        else:
            self.stdout.write(order_file.write_order_file(order), ending="")

    def load_config(self, options: dict[str, Any]) -> tuple[Order, Who]:
        """The order of a file, by the name that was typed, if one was. Raises CommandError."""
        parser = self.create_parser("cosqa", "build")
        changed = [
            "/".join(action.option_strings)
            for action in parser._actions
            if action.dest not in BESIDE_CONFIG
            and action.default != argparse.SUPPRESS  # a former spelling of another one
            and options.get(action.dest) != action.default
        ]
        if changed:
            raise CommandError(f"--config has the whole order: write {', '.join(changed)} into the file.")
        try:
            text = read_small_text(options["config"], order_file.LONGEST_FILE)
            order, who = order_file.read_order_file(text)
        except OSError as why:
            raise CommandError(f"{options['config']} can't be read: {why.strerror}.") from why
        except ValueError as why:
            raise CommandError(f"{options['config']}: {why}") from why
        name = mark_hostile_characters(options["name"] or order.name)
        return replace(order, name=name), who

    def typed(self, options: dict[str, Any]) -> tuple[Order, Who]:
        """The order that the options make. Raises CommandError."""
        if not options["name"]:
            raise CommandError("Name the new build, or give a file with --config.")
        options["given"] = self.given(options)
        return self.order(options), options["annotator"]

    def given(self, options: dict[str, Any]) -> PairList | None:
        """The pairs of --pairs, with what was left out of a file told; None where a mining finds them."""
        if not options["pairs"]:
            given_options.refuse_mined(options)
            return None
        read = given_options.load_given_pairs(options)
        for problem in read.left_out[: given_options.PROBLEMS_SHOWN]:
            self.stderr.write(str(problem))
        labels = f", labels in {read.pairs.benchmark}" if read.pairs.benchmark else ", without labels"
        pairs = count_noun(read.pairs.size, "given pair")
        self.tell_people(f"{pairs} from {read.pairs.name}{labels}{read.losses}")
        return read.pairs

    def estimated(self, plan: OrderPlan) -> str:
        """Show what the order may take; the word that launches it on that."""
        plan.refuse_bad()
        quote, _ = quote_plan(plan)
        self.show(quote.figures)
        self.estimates.append({"name": plan.order.name, **figures_out(quote.figures).dict()})
        return quote.word

    def show(self, found: Estimate) -> None:
        """Each stage in a line, expected and from low to high; then what that rests on."""
        for stage in found.stages:
            told = format_launch_estimate(stage.calls, stage.input_tokens, stage.output_tokens, stage.cost)
            self.tell_people(f"{stage.stage:13} {told}")
        total = format_launch_estimate(found.calls, found.input_tokens, found.output_tokens, found.cost)
        self.tell_people(f"{'all':13} {total}")
        for basis in found.basis:
            self.tell_people(f"- {basis.what}: {basis.figure} [{basis.source}] {basis.note}".rstrip())

    def order(self, options: dict[str, Any]) -> Order:
        given: PairList | None = options["given"]
        queries, snippets = (
            getattr(given, kind) if given else find_newest_collection(options[kind], kind)
            for kind in Collection.Kind.values
        )
        return Order(
            **{name: options[name] for name in SAME},
            queries=queries,
            snippets=snippets,
            given=given,
            encoders=() if given else read_encoders(options),
            budget=parse_dollars(options["budget"]),
            price_in=parse_dollars(options["price_in"], "--price-in"),
            price_out=parse_dollars(options["price_out"], "--price-out"),
            annotator=next(iter(options["annotator"].judges), Judge.AGENTS),
            withhold_report=not options["show_report"],
            rule=Rule(0) if options["rule"] == "none" else Rule[options["rule"].upper()],
            query_rule=query_rule(options["query_rule"]),
            text_option=text_of_snippets(options["text"]),
            fusion=Fusion(options["fusion"]),
            sampling=parse_sampling(options["sampling"]),
            reason=mark_hostile_characters(options["reason"]),
        )


def read_encoders(options: dict[str, Any]) -> tuple[str, ...]:
    """Those that are named; else the papers' with a profile, and two that need no download without."""
    named = tuple(name.strip() for name in options["encoders"].split(",") if name.strip())
    return named or (ENCODERS if options["profile"] else USUAL_ENCODERS)


def format_launch_estimate(calls: Range, given: Range, said: Range, cost: Range | None) -> str:
    def whole(found: Range) -> str:
        return f"{found.expected:,.0f} ({found.low:,.0f} to {found.high:,.0f})"

    money = "no price is known"
    if cost is not None:
        low, expected, high = (figure / NANO for figure in (cost.low, cost.expected, cost.high))
        money = f"${expected:,.4f} (${low:,.4f} to ${high:,.4f})"
    return f"{whole(calls)} calls, {whole(given)} tokens in, {whole(said)} out, {money}"


def text_of_snippets(name: str) -> TextOption:
    try:
        return text_option(name)
    except UnknownTextOption as error:
        raise CommandError(f"--text: {error}") from error
