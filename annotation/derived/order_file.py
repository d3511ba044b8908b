"""An order as a YAML file: written of an order or a build, and read back to an equal order.

A file comes from outside: its size, depth and aliases are bounded before anything is made of it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import yaml
from pydantic import ValidationError

from annotation.builds.launch.from_build import order_of
from annotation.builds.launch.order import Judge, Order
from annotation.builds.launch.paper_profile import ENCODERS, SWITCHES, rule_of_paper
from annotation.derived.derivation import EXPERTS, Who
from annotation.models import Build, DriftWatch
from annotation.models.builds.build import NANO
from annotation.schemas.shared.order_file import OrderFile
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.filters import NO_RULE, Rule
from retrieval.filters.queries import QueryRule, query_rule
from retrieval.fusion import Fusion
from retrieval.given_pairs import of_benchmark
from retrieval.models import Collection, PairList

LONGEST_FILE: Final = 100_000
DEEPEST: Final = 20
LIKE: Final = 0.6
"""How like a key has to be to one that is known, from 0 to 1, to be named as what may be meant."""
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "The build": ("name", "reason"),
    "Which pairs are judged": (
        *("queries", "functions", "pairs", "pair_list", "encoders", "k", "limit", "rule", "query_rules"),
        *("text_option", "fusion", "approximate"),
    ),
    "Who answers, and what it may cost": (
        *("provider", "model", "recorded", "budget", "price_in", "price_out", "unpriced", "batches"),
        *("drift_check", "skip_canary", "sampling"),
    ),
    "How a pair is judged": (
        *("annotators", "profile", "rounds", "fix_rounds", "rewrites", "reader", "neighbour"),
        *("withhold_report", "second_test", "screen_by_query", "seed", "fresh"),
    ),
    "What people's labels do": ("reviews_needed", "hides_reviews"),
}
"""The keys in the order of the launch form, under a comment each."""
LOOKED_UP: Final = frozenset({"queries", "functions", "pairs", "pair_list", "encoders"})
TURNED: Final = frozenset({"rule", "query_rules", "fusion", "annotators", "profile", "annotator"})
SAME: Final = tuple(
    name for names in GROUPS.values() for name in names if name not in LOOKED_UP and name not in TURNED
)
"""Keys that an order has under the same name, with the same value."""

FORMER: Final[Mapping[str, str]] = {"snippets": "functions"}
"""Keys that files of old have, with their names of today."""


class BadOrderFile(ValueError):
    """What is wrong, and on which line."""


class _Dumper(yaml.SafeDumper):
    """Writes dollars as numbers."""


def _write_decimal(dumper: yaml.SafeDumper, value: Decimal) -> yaml.ScalarNode:
    text = f"{value:f}"
    kind = "float" if "." in text else "int"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", text)


_Dumper.add_representer(Decimal, _write_decimal)
_Dumper.add_multi_representer(str, lambda dumper, value: dumper.represent_str(str(value)))


def write_order_file(order: Order, who: Who | None = None) -> str:
    """The order as YAML, each key with its value in force."""
    values = order_values(order, who or Who((order.annotator,)))
    parts = []
    for heading, names in GROUPS.items():
        found = {name: values[name] for name in names if name in values}
        body = yaml.dump(found, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
        parts.append(f"# {heading}\n{body}")
    return "\n".join(parts)


def order_values(order: Order, who: Who) -> dict[str, Any]:
    """The file's keys with their values; what is looked up has its name."""
    return {
        **{name: getattr(order, name) for name in SAME},
        **(given_values(order.given) if order.given else mined_values(order)),
        "rule": "any" if order.rule == NO_RULE else str(order.rule.name).lower(),
        "query_rules": [str(rule.name).lower() for rule in QueryRule if order.query_rule & rule],
        "fusion": order.fusion.value,
        "annotators": [*(judge.value for judge in who.judges), *([EXPERTS] if who.experts else [])],
        "profile": order.prompt_set,
    }


def mined_values(order: Order) -> dict[str, Any]:
    return {
        "queries": name_collection(order.queries),
        "functions": name_collection(order.snippets),
        "encoders": list(order.encoders),
    }


def given_values(given: PairList) -> dict[str, Any]:
    """The benchmark's name where the list is all of its pairs, else the list's number."""
    benchmark = given.benchmark
    is_whole = benchmark is not None and not given.source and given.size == benchmark.size
    return {"pairs": str(benchmark)} if is_whole else {"pair_list": given.pk}


def name_collection(collection: Collection) -> str:
    return f"{collection.name}@{collection.version}"


def order_of_build(build: Build) -> Order:
    """What the build was launched with, its budget and watch included."""
    cap = build.tally.cap
    return replace(
        order_of(build),
        rounds=build.rounds,
        budget=None if cap is None else Decimal(cap) / NANO,
        drift_check=DriftWatch.objects.filter(build=build).exists(),
    )


def read_order_file(text: str) -> tuple[Order, Who]:
    """The order, and who judges. What the file says counts before its profile. Raises BadOrderFile."""
    values, lines = read_yaml(text)
    for former, key in FORMER.items():
        if former in values and key not in values:
            values[key], lines[key] = values.pop(former), lines.pop(former)
    for key in values:
        if key not in OrderFile.model_fields or key == "annotator":
            raise BadOrderFile(f"line {lines[key]}: there is no {key!r}{hint_at(key)}.")
    try:
        wanted = OrderFile(**values)
    except ValidationError as wrong:
        raise BadOrderFile("; ".join(describe_errors(wrong, lines))) from wrong
    who = Who.named(list(wanted.annotators))
    judge = next(iter(who.judges), Judge.AGENTS)
    order = Order(
        **{name: getattr(wanted, name) for name in SAME},
        **look_up(wanted, lines),
        rule=NO_RULE if wanted.rule == "any" else Rule[wanted.rule.upper()],
        query_rule=query_rule(wanted.query_rules),
        fusion=Fusion(wanted.fusion),
        annotator=judge,
    )
    return (complete_paper_profile(order, wanted) if wanted.profile else order), who


def complete_paper_profile(order: Order, wanted: OrderFile) -> Order:
    """The paper's switches for all that the file leaves out."""
    said = wanted.model_fields_set | ({"annotator"} if "annotators" in wanted.model_fields_set else set())
    switches = {name: value for name, value in SWITCHES.items() if name not in said}
    rule = order.rule if "rule" in said else rule_of_paper(order.rule)
    return replace(order, rule=rule, **switches)


def look_up(wanted: OrderFile, lines: Mapping[str, int]) -> dict[str, Any]:
    """The rows that the file names. Raises BadOrderFile."""
    if wanted.pairs is not None or wanted.pair_list is not None:
        given = find_pair_list(wanted, lines)
        return {"given": given, "queries": given.queries, "snippets": given.snippets, "encoders": ()}
    return {
        "queries": find_collection(wanted.queries or "", Collection.Kind.QUERIES, lines["queries"]),
        "snippets": find_collection(wanted.functions or "", Collection.Kind.SNIPPETS, lines["functions"]),
        "encoders": tuple(wanted.encoders or ENCODERS),  # none are named only where a profile has them
    }


def find_pair_list(wanted: OrderFile, lines: Mapping[str, int]) -> PairList:
    if wanted.pairs is not None:
        try:
            return of_benchmark(find_named_benchmark(wanted.pairs))
        except NoSuchBenchmark as why:
            raise BadOrderFile(f"line {lines['pairs']}: {why}") from why
    rows = PairList.objects.select_related("queries", "snippets", "benchmark")
    found = rows.filter(pk=wanted.pair_list or 0).first()
    if found is None:
        raise BadOrderFile(f"line {lines['pair_list']}: there is no list of pairs {wanted.pair_list}.")
    return found


def find_collection(name: str, kind: str, line: int) -> Collection:
    """The newest version of a name, or the one after `@`."""
    rows = Collection.objects.filter(kind=kind).order_by("-version")
    plain, _, version = name.rpartition("@")
    found = rows.filter(name=name).first()
    if found is None and plain and version.isascii() and version.isdigit() and len(version) < 10:
        found = rows.filter(name=plain, version=int(version)).first()
    if found is None:
        known = ", ".join(rows.values_list("name", flat=True).distinct()[:20]) or "none yet"
        noun = Collection.Kind(kind).noun
        raise BadOrderFile(
            f"line {line}: there is no collection of {noun} called {name!r}; there are: {known}."
        )
    return found


def read_yaml(text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Keys with values, and keys with lines. Raises BadOrderFile."""
    if len(text) > LONGEST_FILE:
        raise BadOrderFile(f"An order has at most {LONGEST_FILE:,} characters.")
    try:
        refuse_deep(text)
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if not isinstance(root, yaml.MappingNode):
            raise BadOrderFile("An order is lines of 'key: value'.")
        values, lines = dict[str, Any](), dict[str, int]()
        for key_node, value_node in root.value:
            key, line = str(loader.construct_object(key_node, deep=True)), key_node.start_mark.line + 1
            if key in lines:
                raise BadOrderFile(f"line {line}: {key!r} was said before, on line {lines[key]}.")
            values[key], lines[key] = loader.construct_object(value_node, deep=True), line
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise BadOrderFile(f"{where}this is no YAML: {wrong.problem}.") from wrong
    except (yaml.YAMLError, ValueError) as wrong:
        if isinstance(wrong, BadOrderFile):
            raise
        raise BadOrderFile(f"this is no YAML: {wrong}") from wrong
    return values, lines


def refuse_deep(text: str) -> None:
    """What an alias stands for may be repeated without end, and depth takes stack."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise BadOrderFile(f"line {line}: an order has no aliases, and is at most {DEEPEST} deep.")


def hint_at(key: str) -> str:
    like = difflib.get_close_matches(key, OrderFile.model_fields.keys() - {"annotator"}, n=1, cutoff=LIKE)
    return f"; perhaps {like[0]!r} is meant" if like else ""


def describe_errors(wrong: ValidationError, lines: Mapping[str, int]) -> Iterator[str]:
    for error in wrong.errors(include_url=False):
        key = str(error["loc"][0]) if error["loc"] else ""
        place = ".".join(map(str, error["loc"]))
        where = f"line {lines[key]}: {place}: " if key in lines else ""
        yield f"{where}{error['msg'].removeprefix('Value error, ')}"
