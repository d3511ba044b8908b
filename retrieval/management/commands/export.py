"""`manage.py export FORMAT BENCHMARK DIR`: a published benchmark as files that others read."""

from __future__ import annotations

import json
import re
import shlex
import time
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from retrieval.disk_space import is_full_disk
from retrieval.evaluation.content import NoSuchBenchmark, find_named_benchmark
from retrieval.exporting.content import NothingToExport
from retrieval.exporting.export_run import FORMATS, Exported, Format, Options, export_benchmark
from retrieval.exporting.files import MANIFEST, FolderInUse, why_unwritten
from retrieval.exporting.labels import LabelChoice
from retrieval.exporting.whole_grades import Fractions
from retrieval.exporting.withholding_policy import Withhold
from retrieval.management.bars import open_bar
from retrieval.management.light import LightCommand
from retrieval.sources.readers.parquet import MissingLibrary
from retrieval.texts.plurals import count_noun

FOR_THE_HUB: Final = frozenset({"beir", "huggingface"})
"""Formats whose folder has a dataset card."""


class Command(LightCommand):
    help = (
        "Write a published benchmark into a folder. With the format's own files come workbench.json (what "
        "it is, by which merge rule) and provenance/ (who gave each label, assisted or blind; origins; what "
        "is unjudged, which is never 0). docs/data.md has an example of each format."
    )
    refusals = (FolderInUse, Fractions, MissingLibrary, NoSuchBenchmark, NothingToExport)

    def add_arguments(self, parser: CommandParser) -> None:
        self.add_formats(parser.add_subparsers(dest="format", required=True, parser_class=type(parser)))

    def add_formats(self, formats: Any) -> None:
        """`formats` is argparse's action of the formats, which takes one parser each."""
        for name, known in FORMATS.items():
            each = formats.add_parser(name, help=known.title)
            self.add_contents(each, known)
            self.add_split(each)

    def add_contents(self, parser: CommandParser, known: Format) -> None:
        """What is written, and where."""
        parser.add_argument("benchmark", help="its name, or name@version")
        parser.add_argument("folder", type=Path, metavar="DIR", help="a new folder, or an export to replace")
        parser.add_argument(
            "--labels",
            choices=[choice.value for choice in LabelChoice],
            default=LabelChoice.FINAL.value,
            help="whose: by the merge rule (final, default), of people alone, or of the agents",
        )
        parser.add_argument(
            "--withhold",
            choices=[policy.value for policy in Withhold],
            default=Withhold.NONE.value,
            help="withhold texts by licence, and write only origin and hash: forbidden = the stated licence "
            "is not known to allow passing on, unknown = also where no licence is stated (default: none)",
        )
        if known.is_whole:
            parser.add_argument(
                "--round",
                action="store_true",
                help="write means of several labels as the nearest whole numbers, and note it in "
                "workbench.json (without it they are refused: readers of this format take none)",
            )
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def add_split(self, parser: CommandParser) -> None:
        """Whether it is written in three parts, and how pairs are divided."""
        parser.add_argument(
            "--split", action="store_true", help="train, dev and test, 8:1:1 by number of matches"
        )
        parser.add_argument(
            "--seed", type=int, default=1, help="of the split, where there is one (default 1)"
        )
        parser.add_argument(
            "--by-repository",
            action="store_true",
            help="a split in which the matches of a repository are in one part",
        )
        parser.add_argument(
            "--published-split",
            action="store_true",
            help="train, dev and test as the source has them (CodeSearchNet's partition)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        began = time.monotonic()
        try:
            benchmark = find_named_benchmark(options["benchmark"])
            is_replaced = (options["folder"] / MANIFEST).is_file()
            with open_bar(unit=" records", desc="exporting") as bar:
                done = export_benchmark(
                    benchmark, options["format"], options["folder"], build_export_options(options, bar)
                )
        except OSError as why:
            full = is_full_disk(why)
            raise CommandError(why_unwritten(why, str(options["folder"])) if full else str(why)) from why
        if is_replaced:
            self.stderr.write(f"replaced the earlier export in {options['folder']}")
        for warning in done.warnings:
            self.stderr.write(f"warning: {warning}")
        self.stdout.write(json.dumps(done.as_json()) if options["json"] else describe_export(done))
        if options["format"] in FOR_THE_HUB:
            self.stderr.write(f"to publish it: {format_upload_command(benchmark.name, options['folder'])}")
        self.stderr.write(f"{time.monotonic() - began:,.1f} s")


def build_export_options(options: dict[str, Any], bar: Any) -> Options:
    """Raises CommandError where two splits are asked for."""
    published = options["published_split"]
    if published and (options["split"] or options["by_repository"]):
        raise CommandError("--published-split is a split already: leave out --split and --by-repository.")
    return Options(
        LabelChoice(options["labels"]),
        options["seed"] if options["split"] or options["by_repository"] else None,
        options["by_repository"],
        Withhold(options["withhold"]),
        lambda done: bar.update(done),
        options.get("round", False),
        published,
    )


def format_upload_command(name: str, folder: Path) -> str:
    """What `huggingface_hub` takes to put the folder on the hub; OWNER is for the reader to fill in."""
    repository = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-") or "benchmark"
    return f"hf upload OWNER/{repository} {shlex.quote(str(folder))} --repo-type dataset"


def describe_export(done: Exported) -> str:
    members = f"{count_noun(done.queries, 'query', 'queries')}, {count_noun(done.snippets, 'function')}"
    sources = ", ".join(f"{count:,} from {source}" for source, count in done.by_source.items())
    given = f" ({sources})" if sources else ""
    whole = f"{members}, {count_noun(done.pairs, 'labelled pair')}{given} in {done.folder}"
    if done.split is None:
        return whole
    parts = ", ".join(f"{count:,} {part}" for part, count in done.split.queries.items())
    shared = f"{count_noun(done.split.shared, 'function')} in pairs of several parts"
    return f"{whole}\nqueries: {parts}; {shared}, {done.split.shared_matches:,} as matches"
