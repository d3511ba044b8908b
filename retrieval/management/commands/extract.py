"""`manage.py extract PLACE …`: documented functions of sources as JSON Lines in CodeSearchNet's form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import CommandError, CommandParser, OutputWrapper

from retrieval.filters.steps import Refusals
from retrieval.management.bars import open_bar
from retrieval.management.light import LightCommand
from retrieval.sources import Problem
from retrieval.sources.code.extraction import Extracted, extract_functions
from retrieval.sources.code.languages import LANGUAGES
from retrieval.sources.code.places import is_path
from retrieval.sources.formats.tokens import code_tokens, docstring_tokens, identifier_subtokens
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.texts.plurals import count_noun


class Command(LightCommand):
    help = (
        "Write the documented functions of sources as JSON Lines with CodeSearchNet's keys: text, tokens, "
        "documentation, identifiers split into subtokens, origin and licence. Nothing is stored; "
        "'import documented' stores the same functions, and 'import codesearchnet' reads this file."
    )

    reads_foreign_files = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "places", nargs="+", help="files, folders, .whl, .zip, .tar.gz, git+REPOSITORY[@REVISION], stdlib"
        )
        parser.add_argument(
            "--language", choices=list(LANGUAGES), default="python", help="of the files (default %(default)s)"
        )
        parser.add_argument("--out", type=Path, help="the file to write (default: standard output)")

    def handle(self, *args: Any, **options: Any) -> None:
        missing = [place for place in options["places"] if is_path(place) and not Path(place).exists()]
        if missing:
            raise CommandError(f"There is no {', no '.join(missing)}.")
        refusals = Refusals()
        written = 0
        with self.opened(options["out"]) as file:
            for line in self.lines(options["places"], options["language"], refusals):
                file.write(f"{line}\n")
                written += 1
        self.stderr.write("\n".join([*refusals.lines(), f"{count_noun(written, 'function')} extracted"]))
        if not written:
            raise CommandError(f"There is no documented function of {options['language']} in it.")

    @contextmanager
    def opened(self, out: Path | None) -> Iterator[TextIO | OutputWrapper]:
        """The file to write, or the standard output. Raises CommandError."""
        if out is None:
            yield self.stdout
            return
        try:
            file = out.open("w", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"--out {out}: {error.strerror or error}.") from error
        with file:
            yield file

    def lines(self, places: list[str], language: str, refusals: Refusals) -> Iterator[str]:
        with open_bar(unit=" functions", desc="extracting") as bar:
            for place in places:
                for found in extract_functions(place, language, refusals):
                    if isinstance(found, Problem):
                        self.stderr.write(str(found))
                    else:
                        bar.update()
                        yield mark_hostile_characters(
                            json.dumps(build_function_record(found, language), ensure_ascii=False)
                        )


def build_function_record(found: Extracted, language: str) -> dict[str, Any]:
    """One function with CodeSearchNet's keys, its subtokens and its licence."""
    tokens = code_tokens(found.function.text, language)
    return {
        "path": found.function.path,
        "func_name": found.function.qualified_name,
        "language": language,
        "code": found.function.text,
        "code_tokens": tokens,
        "identifier_subtokens": identifier_subtokens(tokens),
        "docstring": found.function.documentation,
        "docstring_tokens": docstring_tokens(found.function.question),
        "url": found.origin,
        "licence": found.licence,
    }
