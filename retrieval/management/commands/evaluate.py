"""`manage.py evaluate BENCHMARK --run FILE … --encoder NAME …`: score systems and keep the runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from retrieval.encoders import NAMES, MissingWeights, UnknownEncoder
from retrieval.encoders.dense.endpoint import asked_in_words
from retrieval.encoders.rerankers import RERANKERS, UnknownReranker
from retrieval.evaluation.content import (
    NoCandidates,
    NoSuchBenchmark,
    content_of,
    find_named_benchmark,
    pool_of,
)
from retrieval.evaluation.files import NotComparable
from retrieval.evaluation.leaderboard import precompute_leaderboards
from retrieval.evaluation.runs.system_run import (
    DEFAULT_MEASURES,
    Evaluated,
    NameTooLong,
    describe_skipped_queries,
    evaluate_file,
    evaluate_system,
    kept_name,
)
from retrieval.evaluation.systems.names import join_second_stage
from retrieval.evaluation.systems.search import DEPTH, RERANK_DEPTH, Search, find_system
from retrieval.evaluation.systems.second_stage import second_stage_of
from retrieval.filters import TEXT_OPTIONS, UnknownTextOption, text_option
from retrieval.management import spec_files
from retrieval.management.bars import open_bar
from retrieval.management.light import LightCommand
from retrieval.management.memory_limit import bound_import_memory
from retrieval.metrics.names import UnknownMeasure, describe_measure_names, parse_measures
from retrieval.metrics.resampling import FEW, FEW_TOLD
from retrieval.mining import known_encoders
from retrieval.models import Pool
from retrieval.sources.formats.trec import read_run_tag
from retrieval.sources.readers.compression import without_packing
from retrieval.sources.readers.lines import Malformed
from retrieval.texts.plurals import count_noun

FIGURES = "figures of the leaderboard, kept so that nobody waits for the page"


def add_rerank_options(parser: CommandParser) -> None:
    parser.add_argument(
        "--rerank",
        default="",
        metavar="NAME:/FOLDER",
        help=f"let a model rank the first results of each --encoder again: {' or '.join(RERANKERS)}, "
        "with its folder or hub id after a colon",
    )
    parser.add_argument(
        "--depth",
        type=int,
        default=RERANK_DEPTH,
        help=f"how many results --rerank ranks again (default {RERANK_DEPTH}); those below stay",
    )


class Command(LightCommand):
    help = (
        "Score retrieval systems on a benchmark: encoders by name, or ranked lists from files. Each system's "
        "lists and scores are kept as a run. Queries without a match are skipped and counted. A result "
        "without a label is unjudged: each metric is shown with the share of judged results and the value of "
        "the list without unjudged ones. docs/metrics.md has the formulas."
    )
    refusals = (
        Malformed,
        MissingWeights,
        NameTooLong,
        NoCandidates,
        NoSuchBenchmark,
        NotComparable,
        UnknownEncoder,
        UnknownMeasure,
        UnknownReranker,
        UnknownTextOption,
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
        add_rerank_options(parser)
        parser.add_argument(
            "--run",
            nargs="+",
            action="extend",
            default=[],
            metavar="[NAME=]FILE",
            help="ranked lists: TREC's, CodeSearchNet's CSV or JSON, also packed; without NAME the tag of a "
            "TREC run names the system, else the file",
        )
        known = ", ".join(option.replace(" ", "_") for option in TEXT_OPTIONS)
        parser.add_argument(
            "--text-option",
            help=f"what of a function is searched: {known} (default whole); with --run, what is known of it",
        )
        parser.add_argument(
            "--pool", choices=Pool.values, help="what is searched (default: what the benchmark says)"
        )
        parser.add_argument(
            "--metrics",
            default=DEFAULT_MEASURES,
            help=f"with commas, out of {describe_measure_names()} (default {DEFAULT_MEASURES})",
        )
        parser.add_argument("--language", help="only the rows of this language, in runs that have one")
        parser.add_argument("--json", action="store_true", help="as JSON, with all digits")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["encoder"] and not options["run"]:
            raise CommandError("Say what to evaluate: --encoder NAME or --run FILE, several if you like.")
        with known_encoders.use_spec_files(options["encoder_file"]):
            found = self.evaluated(options)
        for note in dict.fromkeys(note for evaluated in found.values() for note in evaluated.notes):
            self.stderr.write(note)
        if options["json"]:
            told = json.dumps({name: one_as_json(evaluated) for name, evaluated in found.items()}, indent=2)
        else:
            told = "\n\n".join(one_told(name, evaluated) for name, evaluated in found.items())
        self.stdout.write(told)

    def evaluated(self, options: dict[str, Any]) -> dict[str, Evaluated]:
        """What came out, by system. What is asked for is looked at before anything long begins."""
        wanted = parse_measures(options["metrics"].split(","))
        systems = [find_system(name) for name in system_names(options)]
        files = named_files(options["run"], {system.name for system in systems})
        for name in (*(system.name for system in systems), *files):
            kept_name(name)
        text = text_option(options["text_option"] or "whole")
        content = content_of(find_named_benchmark(options["benchmark"]))
        pool = Pool(options["pool"] or content.benchmark.pool)
        with bound_import_memory():  # a model may take more
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
        with open_bar(unit=" texts") as bar:
            how = Search(
                text,
                pool_of(content, pool) if systems else None,
                settings.COSQA_HOME / "vectors",
                progress=lambda stage, done, total: advance_evaluation_bar(bar, stage, done, total),
            )
            done = {
                system.name: evaluate_system(system, content, pool, how, wanted) for system in systems
            } | found
            advance_evaluation_bar(bar, FIGURES, 0, 0)
            precompute_leaderboards(
                content.benchmark,
                pool,
                lambda: advance_evaluation_bar(bar, FIGURES, int(bar.n) + 1, int(bar.n) + 1),
            )
            return done


def system_names(options: dict[str, Any]) -> list[str]:
    """The systems that search, each once, with their second stage where one was asked for."""
    names, reranker, depth = dict.fromkeys(options["encoder"]), options["rerank"], options["depth"]
    if not reranker:
        return list(names)
    if not names:
        raise CommandError("--rerank needs a first stage: name one with --encoder, for example bm25.")
    if not 1 <= depth <= DEPTH:
        raise CommandError(f"--depth is 1 to {DEPTH:,}: a search keeps so many results of a query.")
    return [join_second_stage(name, depth, reranker) for name in names]


def named_files(given: list[str], taken: set[str]) -> dict[str, Path]:
    """Files by the system's name: what stands before =, else the run's tag, else the file's name."""
    files: dict[str, Path] = {}
    for argument in given:
        name, path = split_run_argument(argument)
        name = name or read_run_tag(Path(path)) or Path(without_packing(Path(path).name)).stem
        if name in files or name in taken:
            raise CommandError(f"Two systems are called {name!r}; tell them apart by --run NAME=FILE.")
        files[name] = Path(path)
    return files


def split_run_argument(given: str) -> tuple[str, str]:
    """A name, empty where there is none, and a file; either may have a = in it, so what is a file decides."""
    if Path(given).exists():
        return "", given
    signs = [place for place, letter in enumerate(given) if letter == "="] or [-1]
    sign = next((place for place in signs if Path(given[place + 1 :]).is_file()), signs[-1])
    return given[: max(sign, 0)], given[sign + 1 :]


def advance_evaluation_bar(bar: Any, stage: str, done: int, total: int) -> None:
    bar.set_description(stage, refresh=False)
    bar.total = total
    bar.update(done - bar.n)


def one_as_json(evaluated: Evaluated) -> dict[str, Any]:
    """The means under the metrics' names, null where undefined, and what they rest on."""
    figures, run = evaluated.figures, evaluated.run
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
            for name, groups in evaluated.by_matches.items()
        },
        "queries": {
            "scored": evaluated.counts.scored,
            "without_match": evaluated.counts.without_match,
            "without_results": evaluated.counts.without_results,
            "not_judged": evaluated.counts.not_judged,
        },
        "benchmark": str(run.benchmark),
        "run": run.pk,
        "options": options_of(evaluated),
        "text_option": run.text_option or None,
        "pool": run.pool,
        "second_stage": second_stage_of(run) or None,
        "asked": evaluated.asked or None,
    }


def options_of(evaluated: Evaluated) -> dict[str, dict[str, Any]]:
    """What decides the figures beside their formulas, by metric: seeds, what near-duplicates are."""
    kept = evaluated.run.options.get("metrics", {})
    return {name: kept[name] for name in evaluated.figures if name in kept}


def one_told(name: str, evaluated: Evaluated) -> str:
    """A table of one system: metric, mean, interval, judged share, value without unjudged results."""
    width = max(len("metric"), *(len(metric) for metric in evaluated.figures))
    run = evaluated.run
    heading = f"{name} ({run.text_option or 'text not known'}, {run.get_pool_display()}; run {run.pk})"
    lines = [heading, f"{'metric':{width}}    mean  95 % interval    judged  condensed"]
    for metric, figure in evaluated.figures.items():
        between = figure.interval
        lines.append(
            f"{metric:{width}}  {format_metric_value(figure.value):>6}  "
            f"{f'{between.low:.4f}–{between.high:.4f}' if between else '–':>14}  "
            f"{format_metric_value(figure.judged):>7}  {format_metric_value(figure.condensed):>9}"
        )
    lines += [
        f"{metric}: {', '.join(f'{name} {value}' for name, value in told.items())}"
        for metric, told in options_of(evaluated).items()
    ]
    lines += [asked_in_words(encoder, asked) for encoder, asked in evaluated.asked.items()]
    lines.append(describe_second_stage(second_stage_of(run)))
    counts = evaluated.counts
    lines.append(
        f"mean over {count_noun(counts.scored, 'query', 'queries')}, "
        f"{counts.without_results:,} without results; {describe_skipped_queries(counts)}"
    )
    if 1 < counts.scored < FEW:
        lines.append(FEW_TOLD)
    return "\n".join(filter(None, [*lines, coverage_told(evaluated)]))


def describe_second_stage(note: dict[str, Any]) -> str:
    """What was ranked again by what, in words; empty where nothing was."""
    if not note:
        return ""
    return (
        f"second stage: {note['reranker']} ranked the first {note['depth']:,} results of "
        f"{note['first_stage']} again: {count_noun(note['pairs'], 'pair')} in {note['seconds']:.1f} s, after "
        f"{note['first_seconds']:.1f} s of search"
    )


def coverage_told(evaluated: Evaluated) -> str:
    """What share of all that is judged the lists have, in words; empty where nothing is judged."""
    shares = evaluated.run.options["coverage"]
    if shares["judged"] is None:
        return ""
    matches = "" if shares["matches"] is None else f", {shares['matches']:.1%} of the matches"
    return (
        f"coverage: {shares['judged']:.1%} of the judged functions are among the first 300 results{matches}"
    )


def format_metric_value(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
