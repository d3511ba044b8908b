"""`manage.py import cosqa|python`: bring queries, functions and labels into the installation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from retrieval.filters import Rule
from retrieval.importing import Counts, Imported, Options, import_cosqa, import_python
from retrieval.models import Benchmark, Collection

PROBLEMS_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Import a collection. Idempotent: what is there already is left alone. Every function is kept; "
        "which rules it passes is stored with it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        formats = parser.add_subparsers(dest="format", required=True, parser_class=type(parser))
        cosqa = formats.add_parser("cosqa", help="queries (and labels) with their code base, as JSON")
        cosqa.add_argument("file", type=Path, help="JSON array with 'doc' or 'query' (and 'code', 'label')")
        cosqa.add_argument("--codebase", type=Path, help="code_idx_map.txt, or a JSON array with 'code'")
        python = formats.add_parser("python", help="functions out of source trees, wheels, zips or 'stdlib'")
        python.add_argument("paths", nargs="+", help="files or folders, or the word stdlib")
        for each in (cosqa, python):
            each.add_argument("--name", required=True, help="name of the collection")
            each.add_argument("--dry-run", action="store_true", help="count, and store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_bad_name(options["name"])
        with tqdm(unit=" records", desc="importing", disable=None) as bar:
            done = self.perform(options, Options(options["dry_run"], lambda counts: advance(bar, counts)))
        for problem in done.problems[:PROBLEMS_SHOWN]:
            self.stderr.write(str(problem))
        if len(done.problems) > PROBLEMS_SHOWN:
            self.stderr.write(f"… and {len(done.problems) - PROBLEMS_SHOWN:,} more")
        for kind, counts in (("queries", done.queries), ("snippets", done.snippets)):
            if counts is not None:
                self.stdout.write(summary(kind, counts))
        if done.benchmark is not None:
            self.stdout.write(published(done.benchmark))
        if options["dry_run"]:
            self.stdout.write("Nothing was stored (--dry-run).")
        if not any(c and c.read > c.unreadable for c in (done.queries, done.snippets)):
            why = "the lines above say why" if done.problems else "there is nothing in it"
            raise CommandError(f"Nothing could be read; {why}.")

    def perform(self, options: dict[str, Any], how: Options) -> Imported:
        if options["format"] == "cosqa":
            refuse_missing([options["file"], *filter(None, [options["codebase"]])])
            return import_cosqa(options["file"], options["codebase"], options["name"], how)
        places = [path if path == "stdlib" else Path(path) for path in options["paths"]]
        refuse_missing([place for place in places if isinstance(place, Path)])
        return import_python(places, options["name"], how)


def refuse_missing(paths: list[Path]) -> None:
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise CommandError(f"There is no {', no '.join(missing)}.")


def refuse_bad_name(name: str) -> None:
    longest = Collection._meta.get_field("name").max_length or 0
    if not name.strip() or len(name) > longest:
        raise CommandError(f"--name: expected 1 to {longest} characters, found {len(name.strip())}.")


def advance(bar: Any, counts: Counts) -> None:
    bar.update(max(0, counts.read - bar.n) if counts.read >= bar.n else counts.read)


def published(benchmark: Benchmark) -> str:
    return (
        f"benchmark: {benchmark} has {benchmark.size:,} labels, {benchmark.positives:,} of them matches "
        "('manage.py evaluate' scores systems on it)"
    )


def summary(kind: str, counts: Counts) -> str:
    """One paragraph: what was read, stored and refused, and what each rule would keep."""
    lines = [
        f"{kind}: {counts.read:,} read, {counts.stored:,} stored, {counts.known:,} known already, "
        f"{counts.unreadable:,} unreadable" + (f", {counts.labels:,} labels" if counts.labels else "")
    ]
    if kind == "snippets":
        readable = counts.read - counts.unreadable
        lines.append(f"  {counts.unparsable:,} do not parse as Python 3 (kept; they pass no rule)")
        lines += [rule_line(rule, counts.rules[rule], readable) for rule in Rule]
    return "\n".join(lines)


def rule_line(rule: Rule, passed: int, of: int) -> str:
    share = f" ({passed / of:.1%})" if of else ""
    return f"  {passed:,}{share} pass {str(rule.name).lower().replace('_', ' ')}"
