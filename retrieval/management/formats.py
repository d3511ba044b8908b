"""The formats of `manage.py import`: for each its arguments, and what reads it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from django.core.management.base import CommandError, CommandParser

from retrieval.filters.steps import Refusals
from retrieval.management.options import add_renamed_option
from retrieval.sources import GRADES, Item, Problem
from retrieval.sources.code import extraction
from retrieval.sources.code.languages import LANGUAGES
from retrieval.sources.code.places import expect_archives
from retrieval.sources.formats import beir, codesearchnet, cosqa_plus, ncs, staqc, table

Arguments: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Format:
    """A source of queries and snippets together: `read` makes its items of the command's arguments."""

    help: str
    add_arguments: Callable[[CommandParser], None]
    read: Callable[[Arguments], Iterator[Item]]


def describe_import_source(options: Arguments) -> str:
    """What a collection names as its source: the names of the files and folders given, and what of them."""
    places = options.get("places") or [options["place"]]
    of = f"/{options['config']}" if options.get("config") else ""
    return ", ".join(Path(place).name or str(place) for place in places) + of


def _place(help_text: str) -> Callable[[CommandParser], None]:
    def add(parser: CommandParser) -> None:
        parser.add_argument("place", type=Path, help=help_text)

    return add


def _cosqa_plus(options: Arguments) -> Iterator[Item]:
    release = cosqa_plus.release_at(options["place"])
    if not (release.queries or release.codebase or release.pairs):
        raise CommandError(
            f"{options['place']} has no query.json, codebase.json or pairs.json (or test_agent_… versions)."
        )
    return cosqa_plus.read_cosqa_plus(release)


def _codesearchnet_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "places",
        type=Path,
        nargs="+",
        help="files, or folders with .jsonl (also packed), .parquet, or python_dedupe_definitions_v2.pkl and "
        "python_licenses.pkl",
    )
    parser.add_argument(
        "--documentation", action="store_true", help="first paragraphs of documentation as labelled queries"
    )


def _staqc_arguments(parser: CommandParser) -> None:
    parser.add_argument("place", type=Path, help="…_iid_to_code.pickle or …_qid_to_code.pickle")
    parser.add_argument("--titles", type=Path, help="…_qid_to_title.pickle: questions as labelled queries")


def _staqc(options: Arguments) -> Iterator[Item]:
    if options["titles"] and not options["titles"].exists():
        raise CommandError(f"There is no {options['titles']}.")
    return staqc.read_staqc_blocks(options["place"], options["titles"])


def _ncs_arguments(parser: CommandParser) -> None:
    parser.add_argument("place", type=Path, help="287_android_questions.json")
    parser.add_argument(
        "--code",
        type=Path,
        metavar="DIR",
        help="checkouts of the repositories, DIR/owner/name or DIR/name-commit: the examples become matches",
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="rows of the search corpus as JSON Lines, whose code is in --code (default: the examples alone)",
    )
    parser.add_argument(
        "--answers",
        action="store_true",
        help="the answers of Stack Overflow as labelled functions; they are no part of the search task",
    )


def _ncs(options: Arguments) -> Iterator[Item]:
    code, corpus = options["code"], options["corpus"]
    if missing := [str(path) for path in (*filter(None, [code]), *corpus) if not path.exists()]:
        raise CommandError(f"There is no {', no '.join(missing)}.")
    if corpus and not code:
        raise CommandError("The rows of --corpus have no code: name the folder of checkouts with --code.")
    if code and options["answers"]:
        raise CommandError("Answers are nothing that is searched: take --code or --answers.")
    if code:
        return ncs.read_search_task(options["place"], corpus, code)
    if not options["answers"]:
        options["guessed"] = (
            "Questions alone: the answers of Stack Overflow are no search pool. With --code DIR the methods "
            "that match are read from checkouts; --answers takes the answers as they are."
        )
    return ncs.read_questions(options["place"], options["answers"])


def _beir_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "place",
        type=Path,
        help="folder with corpus.jsonl, queries.jsonl, qrels/, or the same as Parquet (needs pyarrow)",
    )
    parser.add_argument("--split", default="", help="labels of this split alone, such as test")
    parser.add_argument(
        "--config",
        "--language",
        default="",
        metavar="NAME",
        help="of a folder with several data sets the one of this name, such as python for python-corpus/, "
        "python-queries/ and python-qrels/, or for a folder python/",
    )


def _beir(options: Arguments) -> Iterator[Item]:
    try:
        yield from beir.read_beir_folder(options["place"], options["split"], options["config"])
    except beir.NotChosen as why:
        how = " with --config NAME" if why.there else ": leave --config out"
        raise CommandError(f"{options['place']} {why}{how}.") from why


def _table_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "place",
        type=Path,
        help="a .jsonl, .json, .csv or .tsv file, also packed, .parquet, or .txt: a query a line",
    )
    for column in ("query", "function", "label", "query-id", "function-id", "origin", "licence"):
        how: Arguments = {"default": "", "metavar": "COLUMN", "help": f"the column of the {column}"}
        if column.startswith("function"):
            add_renamed_option(parser, f"--{column}", f"--{column.replace('function', 'snippet')}", **how)
        else:
            parser.add_argument(f"--{column}", **how)
    parser.add_argument(
        "--scale",
        choices=list(GRADES),
        default="binary",
        help="labels 0 and 1 (default), 0 to 3, or whole numbers up to 1,000, a match above 0",
    )


def _table(options: Arguments) -> Iterator[Item]:
    """Columns are guessed where none is named; what is taken for what is a note of the import."""
    names = (*table.ROLES, "scale")
    given = {name: options[name] for name in names}
    if not any(given[role] for role in table.ROLES):
        given = guess_columns(options, given)
    try:
        return table.read_table_rows(options["place"], table.Columns(**given))
    except ValueError as error:
        told = describe_columns(table.peek_table_file(options["place"]))
        raise CommandError(f"{str(error).capitalize()}, with --query and --function.{told}") from error


def guess_columns(options: Arguments, given: dict[str, Any]) -> dict[str, Any]:
    """The columns that are probably meant. Raises CommandError where neither queries nor code are found."""
    seen = table.peek_table_file(options["place"])
    if isinstance(seen, Problem):
        raise CommandError(str(seen))
    guessed = table.guess_column_roles(seen)
    if not (guessed["query"] or guessed["snippet"]):
        raise CommandError(f"Name the columns with --query and --function.{describe_columns(seen)}")
    found = {role: guessed[role] for role in table.ROLES if guessed[role]}
    told = " ".join(
        f"--{role.replace('_', '-').replace('snippet', 'function')} {shlex.quote(name)}"
        for role, name in found.items()
    )
    options["guessed"] = f"Columns by their names: {told}"
    scale = given["scale"] if given["scale"] != "binary" or not found.get("label") else guessed["scale"]
    return {**given, **found, "scale": scale}


def describe_columns(seen: table.Peek | Problem) -> str:
    """The columns of a file, to choose from."""
    return "" if isinstance(seen, Problem) else f" The file has the columns {', '.join(seen.columns)}."


def _documented_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "places", nargs="+", help="files, folders, .whl, .zip, .tar.gz, git+REPOSITORY[@REVISION], stdlib"
    )
    parser.add_argument(
        "--language", choices=list(LANGUAGES), default="python", help="of the files (default %(default)s)"
    )


def _documented(options: Arguments) -> Iterator[Item]:
    options["refusals"] = Refusals()
    expect_archives(options["places"])
    for place in options["places"]:
        yield from extraction.read_documented_functions(place, options["language"], options["refusals"])


FORMATS = {
    "documented": Format(
        "documented functions of sources, with their documentation as labelled queries",
        _documented_arguments,
        _documented,
    ),
    "cosqa-plus": Format(
        "a release of CoSQA+: query, codebase and pairs",
        _place(
            "folder with query.json, codebase.json, pairs.json, or test_agent_… versions; or one of these"
        ),
        _cosqa_plus,
    ),
    "codesearchnet": Format(
        "CodeSearchNet's functions, six languages",
        _codesearchnet_arguments,
        lambda options: codesearchnet.read_codesearchnet(options["places"], options["documentation"]),
    ),
    "staqc": Format("StaQC's pickles of Stack Overflow code", _staqc_arguments, _staqc),
    "ncs": Format("Neural Code Search's questions, with the methods that match", _ncs_arguments, _ncs),
    "beir": Format(
        "a folder of BEIR or MTEB",
        _beir_arguments,
        _beir,
    ),
    "table": Format(
        "JSON Lines, JSON, CSV or TSV with columns of your own, or a query a line (.txt)",
        _table_arguments,
        _table,
    ),
}
