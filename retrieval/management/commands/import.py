"""`manage.py import FORMAT`: bring queries, functions and labels into the installation."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from retrieval.collections.import_report import (
    ImportCounts,
    Imported,
    Options,
    describe_aliases,
    describe_assumed,
    describe_growth,
    describe_labels,
)
from retrieval.collections.importer import import_cosqa, import_items, import_python
from retrieval.filters import Rule
from retrieval.filters.newer_syntax import format_version
from retrieval.filters.steps import Refusals
from retrieval.management.bars import open_bar
from retrieval.management.failures import PartlyDone, add_json_option
from retrieval.management.formats import FORMATS, describe_import_source
from retrieval.management.light import REFUSED_STATUS, LightCommand
from retrieval.management.options import add_renamed_option
from retrieval.models import Benchmark, Collection
from retrieval.sources import Problem
from retrieval.sources.code.places import is_path
from retrieval.sources.readers.read_progress import meter_bytes_read
from retrieval.texts.plurals import count_noun

PROBLEMS_SHOWN = 20


class Command(LightCommand):
    reads_foreign_files = True
    help = (
        "Import a collection. Idempotent: what is there already is left alone. Every function is kept; "
        "which rules it passes is stored with it. Exit status: 0 all was read; 3 a record was refused, the "
        "others are stored; 1 nothing was there to read; 2 the command is wrong."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        self.add_formats(parser.add_subparsers(dest="format", required=True, parser_class=type(parser)))

    def add_formats(self, formats: Any) -> None:
        """`formats` is argparse's action of the formats, which takes one parser each."""
        cosqa = formats.add_parser("cosqa", help="queries (and labels) with their code base, as JSON")
        cosqa.add_argument("file", type=Path, help="JSON array with 'doc' or 'query' (and 'code', 'label')")
        cosqa.add_argument(
            "--codebase",
            type=Path,
            help="code_idx_map.txt, or a JSON array with 'code'; without it, the code of the pairs",
        )
        python = formats.add_parser("python", help="functions out of sources, archives, Git or 'stdlib'")
        python.add_argument(
            "paths", nargs="+", help="files, folders, .whl, .zip, .tar.gz, git+REPOSITORY[@REVISION], stdlib"
        )
        qrels = formats.add_parser(
            "qrels",
            help="TREC qrels, or CodeSearchNet's annotations, as labels of collections that are there",
        )
        self.ask_qrels(qrels)
        release = formats.add_parser(
            "release", help="a release folder as a benchmark, also one of export release"
        )
        release.add_argument(
            "folder", type=Path, metavar="DIR", help="query.json, codebase.json, pairs.json …"
        )
        mixed = [formats.add_parser(name, help=known.help) for name, known in FORMATS.items()]
        for parser, known in zip(mixed, FORMATS.values(), strict=True):
            known.add_arguments(parser)
        for each in (cosqa, python, qrels, release, *mixed):
            self.ask_all(each)

    def ask_qrels(self, qrels: CommandParser) -> None:
        qrels.add_argument(
            "file",
            type=Path,
            help="query iteration document relevance, by source ids; or Language,Query,GitHubUrl,Relevance, "
            "by texts and links",
        )
        qrels.add_argument("--language", help="only the rows of this language, of annotations")
        qrels.add_argument(
            "--match-from",
            type=int,
            metavar="RATING",
            help="of annotations: a pair is a match where any rating is at least this, such as 3 "
            "(default: relevance is the mean rating)",
        )
        qrels.add_argument("--queries", help="name of the collection of queries (default: --name)")
        told = "name of the collection of functions (default: --name)"
        add_renamed_option(qrels, "--functions", "--snippets", help=told)

    def ask_all(self, each: CommandParser) -> None:
        """What is asked whatever the format is."""
        each.add_argument("--name", required=True, help="name of the collection")
        each.add_argument("--dry-run", action="store_true", help="count, and store nothing")
        each.add_argument(
            "--problems",
            type=Path,
            metavar="FILE.jsonl",
            help="write every record that is refused: file, record and why (then the exit status is 3)",
        )
        each.add_argument(
            "--allow-partial",
            action="store_true",
            help="publish the labels as a benchmark although one was refused or a file is cut off; the "
            "benchmark says so (without it none is published then)",
        )

        each.add_argument(
            "--replace",
            action="store_true",
            help="take this source in the place of what came under this name before: the collections get a "
            "next version of it alone, and labels before no longer count",
        )
        add_json_option(each)

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_bad_name(options["name"])
        began = time.monotonic()
        with (
            meter_bytes_read() as meter,
            open_bar(unit=" records", desc="importing") as bar,
            open_problem_writer(options) as refused,
        ):
            how = Options(
                options["dry_run"],
                lambda counts: advance_import_bar(bar, counts, meter.share),
                refused,
                options["allow_partial"],
                options["replace"],
            )
            done = self.perform(options, how)
        seconds = time.monotonic() - began
        self.report(done, options, seconds)
        facts = {"name": options["name"], "stored": not options["dry_run"], **import_facts(done)}
        facts["seconds"] = round(seconds, 3)
        refuse_nothing(done, bool(options.get("refusals", Refusals()).steps), options.get("codebase"), facts)
        fail_for_refusals(done, options["dry_run"], facts)
        self.print_json(facts)

    def report(self, done: Imported, options: dict[str, Any], seconds: float) -> None:
        """Say what was read, refused, stored and published."""
        self.tell_problems(done, options["problems"])
        if options.get("guessed"):
            self.tell_people(options["guessed"])
        for kind, counts in (("queries", done.queries), ("snippets", done.snippets), ("others", done.others)):
            if counts is not None:
                self.tell_people(format_import_summary(kind, counts))
        for told in filter(None, (done.remark, done.missing)):
            self.tell_people(told)
        contradicted = sum(counts.contradicted for counts in done.parts)
        if contradicted:
            self.tell_people(
                f"labels that say something else than an earlier one of their pair in the same source: "
                f"{contradicted:,}; the first counts (where you mended one: import with --replace)"
            )
        for counts in done.parts:
            if told := describe_assumed(counts):
                self.tell_people(told)
        if done.benchmark is not None:
            self.tell_people(describe_published_benchmark(done.benchmark))
            if options["format"] == "release":
                self.tell_people(compare_with_export(done.benchmark, options["folder"]))
        if (
            done.total().labels
            and not (options["dry_run"] or done.unpublished or options["format"] in ("qrels", "release"))
            and (told := left_out(options["name"], done.benchmark))
        ):
            self.tell_people(told)
        if "refusals" in options and options["refusals"].steps:
            self.tell_people("\n".join(options["refusals"].lines()))
        self.tell_people(format_import_pace(done.total(), seconds))
        if options["dry_run"]:
            self.tell_people("Nothing was stored (--dry-run).")

    def tell_problems(self, done: Imported, file: Path | None) -> None:
        """The first of them, how many more there are, and where all are."""
        for problem in done.problems[:PROBLEMS_SHOWN]:
            self.stderr.write(str(problem))
        count = done.total().unreadable
        if count > PROBLEMS_SHOWN:
            where = "" if file else "; --problems FILE.jsonl writes every one"
            self.stderr.write(f"… and {count - PROBLEMS_SHOWN:,} more{where}")
        if file:
            self.stderr.write(f"{count_noun(count, 'refused record')} in {file}")

    def perform(self, options: dict[str, Any], how: Options) -> Imported:
        if options["format"] == "cosqa":
            refuse_missing([options["file"], *filter(None, [options["codebase"]])])
            return import_cosqa(options["file"], options["codebase"], options["name"], how)
        if options["format"] == "qrels":
            return self.label(options, how)
        if options["format"] == "release":
            return import_release(options, how)
        if options["format"] in FORMATS:
            places = options.get("places") or [options["place"]]
            refuse_missing([Path(place) for place in places if is_path(place)])
            items = FORMATS[options["format"]].read(options)
            return import_items(items, describe_import_source(options), options["name"], how)
        places = [Path(path) if is_path(path) else path for path in options["paths"]]
        refuse_missing([place for place in places if isinstance(place, Path)])
        return import_python(places, options["name"], how)

    def label(self, options: dict[str, Any], how: Options) -> Imported:
        refuse_missing([options["file"]])
        queries = find_newest_collection(options["queries"] or options["name"], Collection.Kind.QUERIES)
        snippets = find_newest_collection(options["snippets"] or options["name"], Collection.Kind.SNIPPETS)
        from retrieval.collections.label_import import Target, import_qrels
        from retrieval.evaluation.files import NotComparable

        target = Target(queries, snippets, options["name"])
        try:
            return import_qrels(options["file"], target, how, options["language"], options["match_from"])
        except NotComparable as error:
            raise CommandError(str(error)) from error


def import_facts(done: Imported) -> dict[str, Any]:
    """What `--json` prints of an import: the counts of each part, the benchmark, the first problems."""
    names = ("read", "stored", "known", "unreadable", "unparsable", "labels")
    parts = {"queries": done.queries, "snippets": done.snippets, "others": done.others}
    made = done.benchmark
    return {
        **{
            part: counts and {name: getattr(counts, name) for name in names} for part, counts in parts.items()
        },
        "benchmark": made
        and {"name": str(made), "labels": made.size, "matches": made.positives, "sha256": made.digest},
        "refused": done.total().unreadable,
        "problems": [problem_facts(problem) for problem in done.problems[:PROBLEMS_SHOWN]],
    }


def refuse_nothing(done: Imported, by_rules: bool, codebase: Path | None, facts: Mapping[str, Any]) -> None:
    """Raises PartlyDone where nothing came, or nothing of a code base that was named."""
    told = by_rules or bool(done.problems)
    status = REFUSED_STATUS if done.problems else 1
    if not any(counts.labels or counts.read > counts.unreadable for counts in done.parts):
        raise PartlyDone(f"Nothing could be read; {why_nothing(told)}.", facts, status)
    snippets = done.snippets
    if codebase is not None and snippets is not None and snippets.read == snippets.unreadable:
        why = why_nothing(bool(snippets.problems))
        raise PartlyDone(f"--codebase {codebase}: no function could be read; {why}.", facts, status)


def fail_for_refusals(done: Imported, dry_run: bool, facts: Mapping[str, Any]) -> None:
    """Raises PartlyDone where a record was refused, though the others are stored."""
    refused = done.total().unreadable
    if refused:
        others = "the others can be read" if dry_run else "the others are stored"
        told = f"Refused: {count_noun(refused, 'record')} (see above); {others}."
        raise PartlyDone(" ".join(filter(None, (told, done.unpublished))), facts, REFUSED_STATUS)


def why_nothing(told: bool) -> str:
    return "the lines above say why" if told else "there is nothing in it"


@contextmanager
def open_problem_writer(options: dict[str, Any]) -> Iterator[Callable[[Problem], None]]:
    """What writes each refused record into the file of --problems, if one is named. Raises CommandError."""
    if options["problems"] is None:
        yield lambda problem: None
        return
    try:
        file = options["problems"].open("w", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"--problems {options['problems']}: {error.strerror or error}.") from error
    with file:
        yield lambda problem: print(as_line(problem), file=file)


def as_line(problem: Problem) -> str:
    """A refused record as JSON; `record` null where the whole file is meant."""
    return json.dumps(problem_facts(problem))


def problem_facts(problem: Problem) -> dict[str, Any]:
    return {"file": problem.file, "record": problem.record or None, "why": problem.message}


def import_release(options: dict[str, Any], how: Options) -> Imported:
    from retrieval.releases import NoRelease, import_release  # loads NumPy

    refuse_missing([options["folder"]])
    try:
        return import_release(options["folder"], options["name"], how)
    except NoRelease as error:
        raise CommandError(str(error)) from error


def find_newest_collection(name: str, kind: Collection.Kind) -> Collection:
    found = Collection.objects.filter(name=name, kind=kind).order_by("-version").first()
    if found is None:
        raise CommandError(
            f"There is no collection of {kind.noun} called {name!r}: name one with --{kind.noun}."
        )
    return found


def refuse_missing(paths: list[Path]) -> None:
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise CommandError(f"There is no {', no '.join(missing)}.")


def refuse_bad_name(name: str) -> None:
    longest = Collection._meta.get_field("name").max_length or 0
    if not name.strip() or len(name) > longest:
        raise CommandError(f"--name: expected 1 to {longest} characters, found {len(name.strip())}.")
    if Collection.objects.filter(name=name, filtered__isnull=False).exists():
        raise CommandError(f"{name} holds what passed filters of another collection: choose another name.")


def advance_import_bar(bar: Any, counts: ImportCounts, share: float | None) -> None:
    """Count records, and say what share of the bytes has been read where their number is known.

    While labels are stored the count of records stands, and the share alone goes on.
    """
    more = max(0, counts.read - bar.n)
    if share is not None:
        bar.set_description(f"importing, {share:.0%} of the bytes read", refresh=not more)
    bar.update(more)


def describe_published_benchmark(benchmark: Benchmark) -> str:
    return (
        f"benchmark: {benchmark} has {count_noun(benchmark.size, 'label')}, {benchmark.positives:,} "
        "matches ('cosqa evaluate' scores systems on it)"
        + (f"\n  {benchmark.notes}" if benchmark.notes else "")
    )


def left_out(name: str, benchmark: Benchmark | None) -> str:
    """What tells of labels that are in no benchmark; empty where there are none."""
    from retrieval.evaluation.publication import left_out  # loads NumPy

    count = left_out(name, benchmark)
    told = (
        f"{count_noun(count, 'labelled pair')} left out: the query or the function is in neither collection"
    )
    return told if count else ""


def compare_with_export(benchmark: Benchmark, folder: Path) -> str:
    """Whether it is what was exported, for a folder that says what that was."""
    from retrieval.releases import manifest_of

    told = manifest_of(folder)
    if not told.digest:
        return f"sha256 {benchmark.digest}"
    if told.digest == benchmark.digest:
        return f"the same content as was exported: sha256 {benchmark.digest}"
    return (
        f"sha256 {benchmark.digest}; what was exported had {told.digest}: this folder has not all of it, or "
        "the collection had other members before"
    )


def format_import_summary(kind: str, counts: ImportCounts) -> str:
    """One paragraph: what was read, stored and refused, and what each rule would keep."""
    if kind == "others":
        told = f"{describe_labels(counts)}; {count_noun(counts.unreadable, 'record')} refused"
        return f"{told}\n  {counts.ids_told}" if counts.ids_told else told
    known = f"{counts.known:,} known already, {counts.unreadable:,} unreadable"
    noun = "functions" if kind == "snippets" else kind
    lines = [f"{noun}: {counts.read:,} read, {counts.stored:,} stored, {known}"]
    lines += [f"  {counts.ids_told}"] if counts.ids_told else []
    lines += [f"  {describe_growth(counts)}"] if counts.before else []
    if counts.aliases:
        lines.append(f"  {describe_aliases(len(counts.aliases))}")
    if kind == "snippets":
        if counts.unparsable:  # a release names the rules that its snippets pass, not which ones parse
            lines.append(
                f"  {counts.unparsable:,} do not parse as {format_version()} (kept; they pass no rule)"
            )
        lines += [rule_line(rule, passed, len(counts.texts)) for rule, passed in counts.rules.items()]
    return "\n".join(lines)


def format_import_pace(total: ImportCounts, seconds: float) -> str:
    done = total.read + total.labels
    return f"{done:,} records and labels in {seconds:,.1f} s, {done / max(seconds, 1e-3):,.0f} a second"


def rule_line(rule: Rule, passed: int, of: int) -> str:
    share = f" ({passed / of:.1%})" if of else ""
    return f"  {passed:,}{share} pass {str(rule.name).lower().replace('_', ' ')}"
