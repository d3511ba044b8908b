"""`manage.py corpus build|benchmark|collection NAME [--json]`: what it is made of, in numbers."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.studies.report.formats import format_cell_words, format_table_json
from annotation.studies.report.table import Table
from annotation.web.corpus import page
from retrieval.corpus import SAMPLED
from retrieval.management.light import LightCommand
from retrieval.management.options import add_kind_option


class Command(LightCommand):
    help = (
        "Corpus statistics: sizes compared with the papers', queries by number of matches, matches by rank, "
        "lengths, languages, what encoders have in common. The pages of builds, benchmarks and collections "
        "show the same."
    )
    refusals = (page.NoSuchCorpus,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("of", choices=["build", "benchmark", "collection"], help="what is counted")
        parser.add_argument("name", help="of a benchmark also NAME@VERSION")
        add_kind_option(parser, "of the collection")
        parser.add_argument(
            "--all", action="store_true", help=f"read all texts and lists, not {SAMPLED:,} evenly spaced ones"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        what = page.find_corpus_subject(options["of"], options["name"], options["kind"])
        sections = page.sections_of(what, None if options["all"] else SAMPLED)
        if not sections:
            raise CommandError(f"There is nothing in {options['of']} {options['name']!r} to count yet.")
        tables = [section.table for section in sections if section.table.rows]
        if options["json"]:
            found = {table.key: json.loads(format_table_json(table)) for table in tables}
            self.stdout.write(json.dumps(found))
        else:
            self.stdout.write("\n\n".join(map(format_corpus_table, tables)))


def format_corpus_table(table: Table) -> str:
    """A table with its columns under each other."""
    cells = [list(table.columns), *([format_cell_words(cell) for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "\n".join([table.title, *(f"  {line}" for line in lines), *([table.note] if table.note else [])])
