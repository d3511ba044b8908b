"""`manage.py evaluate BENCHMARK --run FILE … --encoder NAME …`: score systems and keep the runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from retrieval import known_encoders
from retrieval.counting import counted
from retrieval.encoders import NAMES, MissingWeights, UnknownEncoder
from retrieval.encoders.endpoint import asked_in_words
from retrieval.evaluation.content import Content, NoCandidates, NoSuchBenchmark, content_of, named, pool_of
from retrieval.evaluation.files import NotComparable
from retrieval.evaluation.leaderboard import keep
from retrieval.evaluation.running import DEFAULT_MEASURES as DEFAULT
from retrieval.evaluation.running import (
    Evaluated,
    NameTooLong,
    evaluate_file,
    evaluate_system,
    kept_name,
    skipped,
)
from retrieval.evaluation.systems import Search, System, system
from retrieval.filters import TEXT_OPTIONS, UnknownTextOption, text_option
from retrieval.management import spec_files
from retrieval.management.light import LightCommand
from retrieval.metrics.names import Measure, UnknownMeasure, described, measures
from retrieval.metrics.resampling import FEW, FEW_TOLD
from retrieval.models import Pool
from retrieval.sources.lines import Malformed

WRONG = (
    Malformed,
    MissingWeights,
    NameTooLong,
    NoCandidates,
    NoSuchBenchmark,
    NotComparable,
    UnknownEncoder,
    UnknownMeasure,
    UnknownTextOption,
)


FIGURES = "figures of the leaderboard, kept so that nobody waits for the page"


class Command(LightCommand):
    help = (
        "Score retrieval systems on a benchmark: encoders by name, or ranked lists from files. Each system's "
        "lists and scores are kept as a run. Queries without a match are skipped and counted. A result "
        "without a label is unjudged: beside each metric stand the share of judged results and the value of "
        "the list without unjudged ones. docs/metrics.md has the formulas."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument(
            "--encoder",
            nargs="+",
            action="extend",
            default=[],
            metavar="NAME",
            help=f"out of {', '.join(NAMES)}, or one of a spec file; bm25+minilm is the mean "
            "of two, also by folder, hub id or model of a server",
        )
        spec_files.add_argument(parser)
        parser.add_argument(
            "--run",
            nargs="+",
            action="extend",
            default=[],
            metavar="[NAME=]FILE",
            help="ranked lists: TREC's, or CodeSearchNet's CSV, or gzipped; the system is called by the file",
        )
        known = ", ".join(option.replace(" ", "_") for option in TEXT_OPTIONS)
        parser.add_argument(
            "--text-option",
            help=f"what of a snippet is searched: {known} (default whole); with --run, what is known of it",
        )
        parser.add_argument(
            "--pool", choices=Pool.values, help="what is searched (default: what the benchmark says)"
        )
        parser.add_argument(
            "--metrics", default=DEFAULT, help=f"with commas, out of {described()} (default {DEFAULT})"
        )
        parser.add_argument("--language", help="only the rows of this language, in runs that have one")
        parser.add_argument("--json", action="store_true", help="as JSON, with all digits")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["encoder"] and not options["run"]:
            raise CommandError("Say what to evaluate: --encoder NAME or --run FILE, several if you like.")
        try:
            with known_encoders.given(options["encoder_file"]):
                found = self.evaluated(options)
        except WRONG as why:
            raise CommandError(str(why)) from why
        for note in dict.fromkeys(note for one in found.values() for note in one.notes):
            self.stderr.write(note)
        self.stdout.write(json.dumps(as_json(found), indent=2) if options["json"] else told(found))

    def evaluated(self, options: dict[str, Any]) -> dict[str, Evaluated]:
        """What came out, by system. What is asked for is looked at before anything long begins."""
        wanted = measures(options["metrics"].split(","))
        systems = [system(name) for name in dict.fromkeys(options["encoder"])]
        files = named_files(options["run"], {one.name for one in systems})
        for name in (*(one.name for one in systems), *files):
            kept_name(name)
        text = text_option(options["text_option"] or "whole")
        content = content_of(named(options["benchmark"]))
        pool = Pool(options["pool"] or content.benchmark.pool)
        found = {
            name: evaluate_file(
                path,
                name,
                content,
                pool,
                wanted,
                language=options["language"],
                text_option=text if options["text_option"] else "",
            )
            for name, path in files.items()
        }
        with tqdm(unit=" texts", disable=None) as bar:
            how = Search(
                text,
                pool_of(content, pool) if systems else None,
                settings.COSQA_HOME / "vectors",
                progress=lambda stage, done, total: advance(bar, stage, done, total),
            )
            done = dict(searched(systems, content, pool, how, wanted)) | found
            advance(bar, FIGURES, 0, 0)
            keep(content.benchmark, pool, lambda: advance(bar, FIGURES, int(bar.n) + 1, int(bar.n) + 1))
            return done


def searched(
    systems: list[System], content: Content, pool: Pool, how: Search, wanted: list[Measure]
) -> Iterator[tuple[str, Evaluated]]:
    for one in systems:
        yield one.name, evaluate_system(one, content, pool, how, wanted)


def named_files(given: list[str], taken: set[str]) -> dict[str, Path]:
    """Files by the system's name: what stands before =, else the file's name without its ending."""
    files: dict[str, Path] = {}
    for one in given:
        name, path = parted(one)
        name = name or Path(path.removesuffix(".gz")).stem
        if name in files or name in taken:
            raise CommandError(f"Two systems are called {name!r}; tell them apart by --run NAME=FILE.")
        files[name] = Path(path)
    return files


def parted(given: str) -> tuple[str, str]:
    """A name, empty where there is none, and a file; either may have a = in it, so what is a file decides."""
    if Path(given).exists():
        return "", given
    signs = [place for place, letter in enumerate(given) if letter == "="] or [-1]
    sign = next((place for place in signs if Path(given[place + 1 :]).is_file()), signs[-1])
    return given[: max(sign, 0)], given[sign + 1 :]


def advance(bar: Any, stage: str, done: int, total: int) -> None:
    bar.set_description(stage, refresh=False)
    bar.total = total
    bar.update(done - bar.n)


def as_json(found: dict[str, Evaluated]) -> dict[str, dict[str, Any]]:
    """By system the means under the metrics' names, null where undefined, and what they rest on."""
    return {name: one_as_json(one) for name, one in found.items()}


def one_as_json(one: Evaluated) -> dict[str, Any]:
    figures, run = one.figures, one.run
    return {
        **{name: figure.value for name, figure in figures.items()},
        "intervals": {
            name: figure.interval and [figure.interval.low, figure.interval.high]
            for name, figure in figures.items()
        },
        "judged": {name: figure.judged for name, figure in figures.items()},
        "condensed": {name: figure.condensed for name, figure in figures.items()},
        "coverage": run.options["coverage"],
        "by_matches": {
            name: {str(number): {"value": of.value, "queries": of.queries} for number, of in groups.items()}
            for name, groups in one.by_matches.items()
        },
        "queries": {
            "scored": one.counts.scored,
            "without_match": one.counts.without_match,
            "without_results": one.counts.without_results,
            "not_judged": one.counts.not_judged,
        },
        "benchmark": str(run.benchmark),
        "run": run.pk,
        "options": options_of(one),
        "text_option": run.text_option or None,
        "pool": run.pool,
        "asked": one.asked or None,
    }


def options_of(one: Evaluated) -> dict[str, dict[str, Any]]:
    """What decides the figures beside their formulas, by metric: seeds, what near-duplicates are."""
    kept = one.run.options.get("metrics", {})
    return {name: kept[name] for name in one.figures if name in kept}


def told(found: dict[str, Evaluated]) -> str:
    return "\n\n".join(one_told(name, one) for name, one in found.items())


def one_told(name: str, one: Evaluated) -> str:
    """A table of one system: metric, mean, interval, judged share, value without unjudged results."""
    width = max(len("metric"), *(len(metric) for metric in one.figures))
    heading = (
        f"{name} ({one.run.text_option or 'text not known'}, {one.run.get_pool_display()}; run {one.run.pk})"
    )
    lines = [heading, f"{'metric':{width}}    mean  95 % interval    judged  condensed"]
    for metric, figure in one.figures.items():
        between = figure.interval
        lines.append(
            f"{metric:{width}}  {number(figure.value):>6}  "
            f"{f'{between.low:.4f}–{between.high:.4f}' if between else '–':>14}  "
            f"{number(figure.judged):>7}  {number(figure.condensed):>9}"
        )
    lines += [
        f"{metric}: {', '.join(f'{name} {value}' for name, value in told.items())}"
        for metric, told in options_of(one).items()
    ]
    lines += [asked_in_words(encoder, asked) for encoder, asked in one.asked.items()]
    counts = one.counts
    lines.append(
        f"mean over {counted(counts.scored, 'query', 'queries')}, "
        f"{counts.without_results:,} without results; {skipped(counts)}"
    )
    if 1 < counts.scored < FEW:
        lines.append(FEW_TOLD)
    return "\n".join(filter(None, [*lines, coverage_told(one)]))


def coverage_told(one: Evaluated) -> str:
    """What share of all that is judged the lists have, in words; empty where nothing is judged."""
    shares = one.run.options["coverage"]
    if shares["judged"] is None:
        return ""
    matches = "" if shares["matches"] is None else f", {shares['matches']:.1%} of the matches"
    return f"coverage: {shares['judged']:.1%} of the judged snippets are among the first 300 results{matches}"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
