"""What the pages of trainings show: the orders of a benchmark, and one training with its curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from django.http import QueryDict
from django.urls import reverse

from annotation.studies.report.table import Table
from annotation.web.benchmarks.page import pools_of
from annotation.web.corpus.plots import Plot, Series, draw_curve_plot
from annotation.web.shared import jobs
from annotation.web.shared.downloads import list_table_formats
from annotation.web.studies.figures import build_study_table_view
from annotation.web.training.tables import build_trained_tables, list_table_warnings
from retrieval.encoders import MissingWeights, UnknownEncoder
from retrieval.evaluation.trained_systems import compare_trained_systems
from retrieval.metrics.resampling import FEW
from retrieval.models import Benchmark, Job, Pool
from retrieval.texts.plurals import count_noun
from retrieval.training.run import CannotTrain, find_trainable
from retrieval.training.settings import FINE_TUNING, RECIPES, Settings, recipe_of
from retrieval.training.training_job import BY_TIME, TrainOrder, can_continue

SHOWN_JOBS: Final = 20
DRAWN: Final = ("finished", "spent", "paper")
"""Styles of lines, for as many measures of dev queries."""
DEV_MEASURES: Final = ("ndcg@10", "mrr", "mmrr", "mrr in batches")
SHUFFLED: Final = "shuffled labels"


def train_jobs_of_benchmark(benchmark: Benchmark) -> jobs.Table:
    """The newest trainings on the benchmark's matches."""
    rows = Job.objects.about(Job.Kind.TRAIN, benchmark.pk)
    address = reverse("benchmark-train-jobs", args=[benchmark.pk])
    return jobs.build_job_table(rows, build_train_job_row, "Trainings", "Training", address, shown=SHOWN_JOBS)


def build_train_job_row(job: Job) -> jobs.JobRow:
    """A training; it leads to its curves."""
    order = TrainOrder.of(job)
    address = reverse("benchmark-training", args=[job.subject, job.pk])
    row = jobs.JobRow(job, order.system, [describe_order(order)], ("step",), "curves and result", address)
    if job.is_open:
        return replace(row, cancel=reverse("benchmark-train-stop", args=[job.subject]))
    if can_continue(job):
        again = reverse("benchmark-train-continue", args=[job.subject])
        return replace(row, retry=jobs.Retry(again, "Continue", {"job": job.pk}))
    return row


def describe_order(order: TrainOrder) -> str:
    """What differs from the recipe, in few words."""
    told = [f"seed {order.settings['seed']}"] if "seed" in order.settings else []
    told += [SHUFFLED] if order.settings.get("shuffles_labels") else []
    told += [count_noun(order.settings["max_pairs"], "pair")] if "max_pairs" in order.settings else []
    told += [f"at most {order.minutes:g} minutes"] if order.minutes else []
    return ", ".join([*told, f"text: {order.text_option}"])


def list_recipes() -> list[tuple[str, Settings]]:
    """The values in force where a field is left empty, by systems with the same ones."""
    found = dict[Settings, list[str]]()
    for name, recipe in (("minilm, codebert, unixcoder, codet5p", FINE_TUNING), *RECIPES.items()):
        found.setdefault(recipe, []).append(name)
    return [(", ".join(names), recipe) for recipe, names in found.items()]


def training_page(benchmark: Benchmark, job: Job) -> dict[str, Any]:
    """One training: its settings in force, how far it is, its curves, and what its test queries say."""
    order, card = TrainOrder.of(job), job.result.get("card")
    curves = card["result"] if card else job.result.get("curves", {"loss": [], "dev": []})
    return {
        "benchmark": benchmark,
        "job": job,
        "row": build_train_job_row(job),
        "order": order,
        "card": card,
        "facts": list_facts(order, card),
        "loss": draw_loss(curves["loss"]),
        "dev": draw_dev(curves["dev"]),
        "best": curves.get("best"),
        "epochs": [(entry["epoch"], measures_of(entry)) for entry in curves["dev"]],
        "measures": list(measures_of(curves["dev"][0])) if curves["dev"] else [],
        "test": list_test_rows(card),
        "encoder": job.result.get("encoder", ""),
        "by_time": bool(card) and card["result"]["stopped"] == BY_TIME,
        "can_continue": can_continue(job),
        "warnings": list_warnings(card) if card else [],
    }


def list_facts(order: TrainOrder, card: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """The values in force; once there is a card what it says, with the hash and the machine."""
    settings = card["settings"] if card else settings_in_force(order)
    facts = [(name.replace("_", " ").capitalize(), format_fact(value)) for name, value in settings.items()]
    facts = [("System", order.system), ("Text of a function", order.text_option), *facts]
    facts.append(("Split", f"by {'project' if order.by_project else 'query'}, seed {order.split_seed}"))
    facts += [("Without", ", ".join(order.without))] if order.without else []
    if card is None:
        return facts
    split, made = card["data"]["split"], card["made_with"]
    counts = (f"{split[part]['pairs']:,} of {split[part]['queries']:,} queries" for part in PARTS)
    return [
        *facts,
        *((f"Pairs: {part}", told) for part, told in zip(PARTS, counts, strict=True)),
        ("Learned pairs", f"{card['pairs']:,}"),
        ("Epochs done", f"{card['result']['epochs']:.2f}"),
        ("Seconds", f"{card['result']['seconds']:,}"),
        ("Made with", ", ".join(f"{name} {value}" for name, value in made.items())),
        ("Start", card["start"]),
        ("Configuration hash", card["hash"]),
    ]


PARTS: Final = ("train", "dev", "test")


def settings_in_force(order: TrainOrder) -> dict[str, Any]:
    """The recipe with what was chosen; what was chosen alone where the system can't be found here."""
    try:
        kind = find_trainable(order.system).kind
    except (CannotTrain, MissingWeights, UnknownEncoder):
        kind = order.system.partition(":")[0]
    return vars_of(recipe_of(kind).changed(order.settings))


def vars_of(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in Settings.__dataclass_fields__}


def format_fact(value: Any) -> str:
    """A setting in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (
        f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)
    )


def draw_loss(points: Sequence[Sequence[float]]) -> Plot | None:
    """The mean loss by step."""
    values = [value for _, value in points]
    if len(values) < 2 or max(values) <= 0:
        return None
    line = Series("spent", "loss", values)
    return draw_curve_plot(
        [line],
        max(values),
        top=f"{max(values):.3f}",
        start=f"step {points[0][0]:,}",
        end=f"step {points[-1][0]:,}",
    )


def measures_of(entry: Mapping[str, float]) -> dict[str, float]:
    """What was measured on dev queries after an epoch."""
    return {name: entry[name] for name in DEV_MEASURES if name in entry}


def draw_dev(epochs: Sequence[Mapping[str, float]]) -> Plot | None:
    """What dev queries said after each epoch, on a scale up to 1."""
    if len(epochs) < 2:
        return None
    names = list(measures_of(epochs[0]))
    lines = [
        Series(kind, name, [entry.get(name) for entry in epochs])
        for kind, name in zip(DRAWN, names, strict=False)
    ]
    return draw_curve_plot(lines, 1.0, top="1", start="epoch 1", end=f"epoch {epochs[-1]['epoch']:.0f}")


def list_test_rows(card: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The test queries' figures by row; None without any."""
    test = card["result"]["test"] if card else None
    if test is None:
        return None
    names = list(next(iter(test["rows"].values())))
    rows = [(label, [(name, row[name]) for name in names]) for label, row in test["rows"].items()]
    return {**test, "names": names, "rows": rows}


def list_warnings(card: Mapping[str, Any]) -> Iterable[str]:
    """What whoever quotes the figures has to know."""
    if card["settings"]["shuffles_labels"]:
        yield "The labels were shuffled: this is a control, which shows what the texts alone teach."
    if card["result"]["test"] is None:
        yield "The split has no test queries: choose another benchmark to score it on."
    if card["result"]["best"] is None:
        yield "The split has no dev queries: the last weights are kept."
    yield (
        f"It learned queries and functions of {card['data']['benchmark']}: figures on this benchmark are too "
        "high, except those of the test queries below."
    )


def trained_tables(benchmark: Benchmark, pool: str, metric: str) -> tuple[Table, ...]:
    """The tables of trained systems, by a metric and over what they searched."""
    wanted = pool if pool in Pool.values else benchmark.pool
    return build_trained_tables(compare_trained_systems(benchmark, wanted, metric))


def trained_page(benchmark: Benchmark, params: QueryDict) -> dict[str, Any]:
    """Trained systems as `pool` and `metric` say, else as the benchmark and the first metric."""
    pool = params.get("pool", "")
    pool = pool if pool in Pool.values else benchmark.pool
    compared = compare_trained_systems(benchmark, pool, params.get("metric", ""))
    tables = build_trained_tables(compared)
    formats = list_table_formats(tables, params)
    return {
        "benchmark": benchmark,
        "compared": compared,
        "pool": pool,
        "pools": pools_of(benchmark, pool),
        "tables": [(build_study_table_view(table), formats[table.key]) for table in tables],
        "warnings": list_table_warnings(compared),
        "few": compared.rows and compared.queries < FEW,
        "fewest": FEW,
    }
