"""`manage.py train BENCHMARK --system NAME`: train a retrieval system on a benchmark's matches."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from retrieval.disk_space import is_full_disk
from retrieval.encoders import MissingWeights, UnknownEncoder
from retrieval.encoders.baselines.baseline_files import BASELINES
from retrieval.encoders.dense.architectures import PAPERS
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.exporting.content import NothingToExport
from retrieval.filters import TEXT_OPTIONS, UnknownTextOption, text_option
from retrieval.management.bars import open_bar
from retrieval.management.light import LightCommand
from retrieval.texts.plurals import count_noun
from retrieval.training.benchmark_data import Choice, load_training_data
from retrieval.training.card import NoCard
from retrieval.training.data import NothingToLearn
from retrieval.training.run import CannotTrain, TrainingOrder, find_trainable, train_system
from retrieval.training.settings import WrongSettings, recipe_of

SETTINGS: Final = (
    "epochs",
    "batch_size",
    "learning_rate",
    "loss",
    "patience",
    "seed",
    "masks_matches",
    "hard_negatives",
    "shuffles_labels",
    "max_pairs",
    "mixed_precision",
)


class Command(LightCommand):
    help = (
        "Train a retrieval system on the matches of a benchmark. Queries are split 8:1:1; dev queries choose "
        "the best epoch, test queries say what was gained. The folder that is written is an encoder: "
        "evaluate --encoder NAME:FOLDER. docs/training.md has the recipes."
    )
    refusals = (
        CannotTrain,
        MissingWeights,
        NoCard,
        NoSuchBenchmark,
        NothingToExport,
        NothingToLearn,
        UnknownEncoder,
        UnknownTextOption,
        WrongSettings,
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument(
            "--system",
            required=True,
            metavar="NAME[:FOLDER]",
            help=f"tune the weights of {', '.join(PAPERS)}; or train {', '.join(BASELINES)} from scratch",
        )
        parser.add_argument(
            "--out", type=Path, metavar="FOLDER", help="where it is written (default trained/ of the home)"
        )
        parser.add_argument("--resume", action="store_true", help="continue a training that was stopped")
        parser.add_argument("--json", action="store_true", help="print the card as JSON")
        self.add_data(parser)
        self.add_settings(parser)

    def add_data(self, parser: CommandParser) -> None:
        """What is learned."""
        known = ", ".join(option.replace(" ", "_") for option in TEXT_OPTIONS)
        parser.add_argument(
            "--text-option", default="whole", help=f"text of a function: {known} (default whole)"
        )
        parser.add_argument("--split-seed", type=int, default=1, help="of the split (default 1)")
        parser.add_argument(
            "--by-project", action="store_true", help="matches of one project are in one part"
        )
        parser.add_argument(
            "--without",
            nargs="+",
            action="extend",
            default=[],
            metavar="BENCHMARK",
            help="learn none of its judged queries, near-same ones, and functions",
        )
        parser.add_argument(
            "--pairs", type=int, dest="max_pairs", metavar="N", help="learn N pairs, drawn by the seed"
        )
        parser.add_argument(
            "--shuffle-labels",
            action="store_true",
            default=None,
            dest="shuffles_labels",
            help="control: the same texts and number of pairs, with shuffled labels",
        )
        parser.add_argument(
            "--mask-matches",
            action="store_true",
            default=None,
            dest="masks_matches",
            help="do not push a query from its other matches in the batch (default: as in the paper, push)",
        )
        parser.add_argument(
            "--hard-negatives",
            type=int,
            metavar="N",
            help="with each pair N judged non-matches of its query (default 0)",
        )

    def add_settings(self, parser: CommandParser) -> None:
        """How it is learned; what is left out is as the paper's repository has it."""
        parser.add_argument("--epochs", type=int, help="at most (default 10, from scratch 300)")
        parser.add_argument("--batch-size", type=int, help="pairs (default 64, from scratch 1000 or 450)")
        parser.add_argument("--learning-rate", type=float, help="default 2e-5, from scratch 0.01 or 5e-4")
        parser.add_argument(
            "--loss",
            choices=["softmax", "margin", "ranking"],
            help="default softmax, from scratch margin, unif ranking",
        )
        parser.add_argument(
            "--patience", type=int, metavar="N", help="end after N epochs without a better one"
        )
        parser.add_argument("--seed", type=int, help="of weights, order, dropout and draws")
        parser.add_argument(
            "--mixed-precision",
            action="store_true",
            default=None,
            help="bfloat16 where it is safe: faster on a GPU",
        )
        parser.add_argument("--minutes", type=float, default=0, help="stop after so many (default: never)")
        parser.add_argument(
            "--checkpoint-steps", type=int, default=0, metavar="N", help="a checkpoint every N steps, too"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # Before torch is loaded: threads that wait leave the processor to others.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        encoder = find_trainable(options["system"])
        chosen = recipe_of(encoder.kind).changed({name: options[name] for name in SETTINGS})
        benchmark = find_named_benchmark(options["benchmark"])
        choice = Choice(
            benchmark,
            text_option(options["text_option"]),
            options["split_seed"],
            options["by_project"],
            [find_named_benchmark(name) for name in options["without"]],
        )
        folder = options["out"] or settings.COSQA_HOME / "trained" / f"{benchmark.pk}-{encoder.kind}"
        order = TrainingOrder(
            options["system"],
            chosen,
            folder.absolute(),
            options["resume"],
            options["checkpoint_steps"],
            options["minutes"],
        )
        with open_bar(unit="", desc="reading") as bar:
            try:
                told = train_system(
                    load_training_data(choice, partial(advance, bar)), order, partial(advance, bar)
                )
            except OSError as why:
                if is_full_disk(why):  # the application says what to do
                    raise
                raise CommandError(str(why)) from why
        if options["json"]:
            self.stdout.write(json.dumps({**told, "folder": str(order.folder)}, indent=2))
        else:
            self.stdout.write(describe_outcome(told, order.folder))


def advance(bar: Any, stage: str, done: int, total: int) -> None:
    """Show how far a stage is; each has a rate of its own."""
    if bar.desc != f"{stage}: ":
        bar.reset()
        bar.set_description(stage, refresh=False)
    bar.total = total or None
    bar.update(done - bar.n)


def describe_outcome(told: dict[str, Any], folder: Path) -> str:
    """What was trained, what dev and test queries say, and how to use it."""
    result = told["result"]
    stopped = f", stopped {result['stopped']}" if result["stopped"] else ""
    learned = f"{told['system']} learned {count_noun(told['pairs'], 'pair')}"
    lines = [f"{learned} in {result['epochs']:.1f} epochs ({result['seconds']:,.0f} s{stopped})"]
    if result["best"] is not None:
        best = result["dev"][result["best"]]
        values = ", ".join(
            f"{name} {value:.4f}" for name, value in best.items() if name not in ("epoch", "step")
        )
        lines.append(f"best epoch by dev queries: {best['epoch']:.0f} ({values})")
    for name, row in (result["test"] or {"rows": {}})["rows"].items():
        values = ", ".join(f"{measure} {value:.4f}" for measure, value in row.items())
        lines.append(f"test queries, {name}: {values}")
    return "\n".join([*lines, f"evaluate BENCHMARK --encoder {told['system']}:{folder}"])
