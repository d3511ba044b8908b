"""`manage.py distractors BENCHMARK`: a benchmark of its own with matches that have a proven bug."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from annotation.derived.distractors.proof import BugChoice, prove_bugs
from annotation.derived.distractors.publication import (
    NoDistractors,
    publish_with_distractors,
    refuse_benchmark,
)
from annotation.management.distractor_job import use_configured_sandbox
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.management.bars import open_bar
from retrieval.management.light import LightCommand
from sandbox.candidate.mutants import BUGS
from sandbox.program import Limits
from sandbox.runner import SandboxUnavailable


class Command(LightCommand):
    help = (
        "Plant bugs into the tested matches of a benchmark, prove each by the match's own test in the "
        f"sandbox, and publish NAME-distractors, where they are no match. Kinds: {', '.join(BUGS)}."
    )
    refusals = (NoDistractors, NoSuchBenchmark, SandboxUnavailable)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument("--seed", type=int, default=1, help="decides where bugs are planted (default 1)")
        parser.add_argument(
            "--most",
            type=int,
            choices=range(1, len(BUGS) + 1),
            default=len(BUGS),
            help="bugs a function, one of each kind (default %(default)s)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = find_named_benchmark(options["benchmark"])
        refuse_benchmark(benchmark)
        choice = BugChoice(options["seed"], options["most"])
        with use_configured_sandbox() as provider, open_bar(unit=" matches", desc="running tests") as bar:

            def tick(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            proofs = prove_bugs(benchmark, choice, provider, Limits(), tick)
        made = publish_with_distractors(benchmark, proofs)
        if options["json"]:
            left_out = {reason.value: count for reason, count in proofs.left_out.items() if count}
            number = made.distractors.count()
            found = {"benchmark": str(made), "distractors": number, "left_out": left_out}
            self.stdout.write(json.dumps(found))
        else:
            self.stdout.write(f"{made}: {made.notes}")
