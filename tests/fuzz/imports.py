"""Damaged files for every import: none ends in a traceback, and each record is stored or told.

    python -m tests.fuzz.imports --minutes 60     # what `make fuzz` does

Prints a seed for each round of examples. A failure prints the smallest files that show it.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from retrieval.exporting.files import FORMAT
from tests.fuzz.files import DAMAGES, IDS, TEXTS, Damage, Record, as_text, objects_of, write_files
from tests.fuzz.readers import READERS, Ended

EXAMPLES_A_ROUND: Final = 100
LABELS: Final = st.sampled_from((0, 1, 1, "1", 1.0, 2, 3, 4, -1, 0.5))


@dataclass(frozen=True)
class Source:
    """Files of one kind, and the words of the command that reads them: `{}` stands for their folder."""

    files: dict[str, Any]
    words: tuple[str, ...]
    texts: tuple[tuple[str, str], ...] = ()
    """(file, key): the texts there are stored, or their records told, while no byte is damaged.

    A key that ends in ? may be missing.
    """
    rows: int | None = None
    """How many records its reader has to have kept or told of, where it takes all or none."""


def _rows(ending: str, records: Any) -> Any:
    """Records as a file of this kind has them: in a table all are texts, and an empty row is no record."""
    if "json" in ending:
        return records
    written = [{name: as_text(said) for name, said in one.items()} for one in records]
    return [one for one in written if any(map(str.strip, one.values()))]


def _table(ending: str, records: Any) -> Source:
    records = _rows(ending, records)
    words = ("table", f"{{}}/t{ending}", "--query", "query", "--snippet", "code", "--label", "label")
    told = ((f"t{ending}", "query"), (f"t{ending}", "code"))
    return Source({f"t{ending}": records}, words, told)


def _beir(ending: str, corpus: Any, queries: Any, labels: Any) -> Source:
    qrels = "qrels/test.parquet" if ending == ".parquet" else "qrels/test.tsv"
    if ending == ".parquet":  # its columns are of texts
        corpus, queries = (
            [{key: as_text(said) for key, said in one.items()} for one in of] for of in (corpus, queries)
        )
    names = f"corpus{ending}", f"queries{ending}"
    files = {names[0]: corpus, names[1]: queries, qrels: labels}
    return Source(files, ("beir", "{}"), ((names[0], "text"), (names[1], "text")))


def _beir_trec(corpus: Any, queries: Any, labels: str) -> Source:
    source = _beir(".jsonl", corpus, queries, [])
    files = {name: records for name, records in source.files.items() if not name.startswith("qrels")}
    return replace(source, files={**files, "qrels/test.txt": labels})


def _pairs(ending: str, records: Any) -> Source:
    told = (f"p{ending}", "query"), (f"p{ending}", "code")
    return Source({f"p{ending}": _rows(ending, records)}, ("given-pairs", f"{{}}/p{ending}"), told)


def _whole(reader: str, name: str, records: Any) -> Source:
    """A file of which all records are taken, or none."""
    rows = _rows(name, records)
    return Source({name: rows}, (reader, f"{{}}/{name}"), rows=len(rows))


def _release(queries: Any, code: Any, pairs: Any, labels: Any, candidates: Any) -> Source:
    mining = {"encoders": ["bm25"], "k": 1}
    told = {"format": FORMAT, "written_as": "release", "digest": "d", "pool": "candidates", "rules": []}
    files = {
        "query.json": queries,
        "codebase.json": code,
        "pairs.json": pairs,
        "workbench.json": json.dumps(told | {"merge_rule": "r", "mining": mining}),
        "provenance/labels.jsonl": labels,
        "provenance/candidates.jsonl": candidates,
    }
    return Source(files, ("release", "{}"), (("query.json", "query"), ("codebase.json", "code")))


def _runs(qrels: str, run: str, ending: str) -> Source:
    files = {"q.qrels": qrels, f"r{ending}": run}
    return Source(files, ("evaluate-files", "--qrels", "{}/q.qrels", "--run", f"{{}}/r{ending}"))


def _lines(*columns: st.SearchStrategy[Any]) -> st.SearchStrategy[str]:
    row = st.tuples(*columns).map(lambda values: " ".join(map(str, values)))
    return st.lists(row, max_size=6).map(lambda rows: "".join(f"{one}\n" for one in rows))


NAMED: Final = {"_id": IDS, "text": TEXTS}
PAIRS: Final = objects_of(
    **{"query-idx": IDS, "query": TEXTS, "code-idx": IDS, "code": TEXTS, "label": LABELS},
)
NUMBERS: Final = st.integers(0, 3) | st.sampled_from(("0", "1", "3", "-1", "nan", "inf", "1e3", "x"))
WORDS: Final = st.sampled_from(("1", "2", "d3", "é", "0")) | st.integers(0, 9)
RANKS: Final = st.sampled_from((1, 2, "NF", "1", "12"))
SOURCES: Final[dict[str, st.SearchStrategy[Source]]] = {
    "table": st.builds(
        _table,
        st.sampled_from((".jsonl", ".json", ".csv", ".tsv", ".jsonl.gz", ".csv.gz", ".jsonl.bz2", ".csv.xz")),
        objects_of(query=TEXTS, code=TEXTS, label=LABELS),
    ),
    "beir": st.builds(
        _beir,
        st.sampled_from((".jsonl", ".jsonl", ".parquet", ".jsonl.gz")),
        objects_of(**NAMED),
        objects_of(**NAMED),
        objects_of(**{"query-id": IDS, "corpus-id": IDS, "score": LABELS}),
    ),
    "cosqa": st.builds(
        lambda records: Source(
            {"c.json": records}, ("cosqa", "{}/c.json"), (("c.json", "doc"), ("c.json", "code?"))
        ),
        objects_of(idx=IDS, doc=TEXTS, code=TEXTS, label=LABELS),
    ),
    "cosqa-plus": st.builds(
        lambda queries, code, pairs: Source(
            {"query.json": queries, "codebase.json": code, "pairs.json": pairs},
            ("cosqa-plus", "{}"),
            (("query.json", "query"), ("codebase.json", "code")),
        ),
        objects_of(**{"query-idx": IDS, "query": TEXTS}),
        objects_of(**{"code-idx": IDS, "code": TEXTS}),
        PAIRS,
    ),
    "codesearchnet": st.builds(
        lambda ending, records: Source(
            {f"c{ending}": records}, ("codesearchnet", "{}", "--documentation"), ((f"c{ending}", "code"),)
        ),
        st.sampled_from((".jsonl", ".jsonl.gz")),
        objects_of(code=TEXTS, docstring=TEXTS, func_name=TEXTS, url=TEXTS),
    ),
    "ncs": st.builds(
        lambda records: Source(
            {"n.json": records},
            ("ncs", "{}/n.json", "--answers"),
            (("n.json", "question"), ("n.json", "answer")),
        ),
        objects_of(stackoverflow_id=IDS, question=TEXTS, answer=TEXTS, question_url=TEXTS),
    ),
    "staqc": st.builds(
        lambda records: Source({"s.pickle": records}, ("staqc", "{}/s.pickle")),
        st.lists(st.fixed_dictionaries({"id": st.integers(0, 9), "code": TEXTS}), max_size=6),
    ),
    "python": st.builds(
        lambda word, text: Source({"m.py": text}, (word, "{}/m.py")),
        st.sampled_from(("python", "documented")),
        st.lists(TEXTS, max_size=5).map("\n".join),
    ),
    "runs": st.builds(
        _runs,
        _lines(WORDS, st.just(0), WORDS, st.integers(0, 3) | NUMBERS),
        _lines(WORDS, st.just("Q0"), WORDS, st.integers(1, 9) | NUMBERS, NUMBERS, st.just("tag")),
        st.sampled_from((".trec", ".txt")),
    ),
    "predictions": st.builds(
        lambda judged, found: Source(
            {"q.csv": judged, "r.csv": found},
            ("evaluate-files", "--qrels", "{}/q.csv", "--run", "{}/r.csv"),
        ),
        objects_of(Language=st.just("Go"), Query=TEXTS, GitHubUrl=IDS, Relevance=st.integers(0, 3)),
        objects_of(language=st.just("Go"), query=TEXTS, url=IDS),
    ),
    "beir-trec": st.builds(
        _beir_trec,
        objects_of(**NAMED),
        objects_of(**NAMED),
        _lines(WORDS, st.just(0), WORDS, st.integers(0, 3) | NUMBERS),
    ),
    "release": st.builds(
        _release,
        objects_of(**{"query-idx": st.integers(0, 3), "query": TEXTS}),
        objects_of(**{"code-idx": st.integers(0, 3), "code": TEXTS}),
        PAIRS,
        objects_of(**{"query-idx": st.integers(0, 3), "code-idx": st.integers(0, 3), "relevance": LABELS}),
        objects_of(
            **{"query-idx": st.integers(0, 3), "code-idx": st.integers(0, 3), "rank": LABELS, "score": LABELS}
        ),
    ),
    "given-pairs": st.builds(
        _pairs,
        st.sampled_from((".jsonl", ".json", ".csv", ".tsv", ".csv.gz")),
        objects_of(query=TEXTS, code=TEXTS, label=st.sampled_from((0, 1, "1", None))),
    ),
    "study-labels": st.builds(
        lambda records: _whole("study-labels", "l.csv", records),
        objects_of(item=TEXTS, rater=IDS, label=LABELS),
    ),
    "planted-pairs": st.builds(
        lambda records: _whole("planted-pairs", "p.csv", records),
        objects_of(kind=st.just("onboarding"), answer=st.integers(0, 1), query=TEXTS, code=TEXTS),
    ),
    "score-sheet": st.builds(
        lambda records: _whole("score-sheet", "s.csv", records),
        objects_of(**{"Question": IDS, "A FRank": RANKS, "B FRank": RANKS}),
    ),
    "replies": st.builds(
        lambda records: _whole("replies", "r.jsonl", records),
        objects_of(id=st.sampled_from(("a" * 64, "b" * 64)), reply=st.just({"label": 1}), model=TEXTS),
    ),
}


def run_command(words: Sequence[str], folder: Path) -> Ended:
    """Raises whatever is no refusal: that is a traceback to who typed it."""
    from django.core.management import CommandError, call_command

    from retrieval.management.light import REFUSED_STATUS

    if words[0] in READERS:
        return READERS[words[0]](Path(words[1].format(folder)))
    filled, problems = [word.format(folder) for word in words], folder / "problems.out"
    if words[0] != "evaluate-files":
        filled = ["import", *filled, "--name", "fuzz", "--problems", str(problems)]
    refused = ""
    try:
        call_command(*filled, stdout=StringIO(), stderr=StringIO())
    except CommandError as error:
        refused = "" if error.returncode == REFUSED_STATUS else str(error) or "refused"
    told = dict[str, list[int | None]]()
    for line in problems.read_text().splitlines() if problems.exists() else ():
        problem = json.loads(line)
        told.setdefault(problem["file"], []).append(problem["record"])
    return Ended(refused, told)


def lost_records(source: Source, folder: Path, ended: Ended) -> list[str]:
    """Records that are neither stored nor told; whole files that were told of count as told."""
    lost = []
    for name, key in source.texts:
        numbers = ended.told.get(str(folder / name), [])
        if None in numbers or str(folder) in ended.told:
            continue
        records = source.files[name]
        unstored = [number for number, record in enumerate(records, 1) if not is_stored(record, key)]
        if name.split(".")[1] in (
            "csv",
            "tsv",
        ):  # problems of a table name lines, of which a row may have several
            unstored = unstored[len(numbers) :]
        lost += [f"{name}: {records[number - 1]}" for number in unstored if number not in numbers]
    return lost


def is_stored(record: Record, key: str) -> bool:
    """Whether the record's text is there, or it needs none."""
    from retrieval.models import Text
    from retrieval.models.blobs import digest_of
    from retrieval.models.texts import canonicalize_text

    if key.endswith("?") and key[:-1] not in record:
        return True
    text = record.get(key.rstrip("?"))
    if not isinstance(text, str) or not text.strip():
        return False
    return Text.objects.filter(body=digest_of(canonicalize_text(text))).exists()


def check_source(source: Source, damages: dict[str, Sequence[Damage]]) -> str:
    """Import it and undo that; gives what it ended as. Raises AssertionError where a record was lost."""
    from django.db import transaction

    with tempfile.TemporaryDirectory() as place, transaction.atomic():
        folder = Path(place)
        write_files(folder, source.files, damages)
        ended = run_command(source.words, folder)
        whole = not any(damages.values()) and not ended.refused
        lost = lost_records(source, folder, ended) if whole else []
        transaction.set_rollback(True)
    assert not lost, f"neither stored nor told: {lost}"
    assert not whole or source.rows is None or ended.kept == source.rows, f"{ended.kept} of {source.rows}"
    return "refused" if ended.refused else "told of some" if ended.told else "taken"


@st.composite
def damaged_sources(draw: st.DrawFn, kind: str) -> tuple[Source, dict[str, Sequence[Damage]]]:
    source = draw(SOURCES[kind])
    if draw(st.booleans()):
        return source, {}
    return source, {name: draw(DAMAGES) for name in source.files}


def checks_of(kind: str, examples: int, ends: Counter[str]) -> Callable[[], None]:
    """What imports so many files of one kind, and counts how they end."""

    @settings(max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(damaged_sources(kind))
    def check(drawn: tuple[Source, dict[str, Sequence[Damage]]]) -> None:
        ends[f"{kind}: {check_source(*drawn)}"] += 1

    return check


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    parser.add_argument("--kind", choices=list(SOURCES), action="append")
    options = parser.parse_args()
    draws, until, ends = random.Random(options.seed), time.monotonic() + 60 * options.minutes, Counter[str]()
    failed = 0
    while time.monotonic() < until:
        for kind in options.kind or SOURCES:
            drawn = draws.randrange(10**9)
            print(f"{kind}, seed {drawn}", flush=True)
            try:
                seed(drawn)(checks_of(kind, EXAMPLES_A_ROUND, ends))()
            except Exception as error:
                failed += 1
                print(
                    f"FAILED {kind}, seed {drawn}: {type(error).__name__}: {error}",
                    *error.__notes__,
                    sep="\n",
                )
    for how, count in sorted(ends.items()):
        print(f"{count:8,} {how}")
    print(f"{sum(ends.values()):,} imports, {failed} rounds failed")
    return 1 if failed else 0


def prepare_database(home: Path) -> None:
    """A new SQLite database with all tables, in this process alone."""
    import os

    import django
    from django.core.management import call_command

    os.environ |= {"COSQA_HOME": str(home), "DJANGO_SETTINGS_MODULE": "cosqa_site.settings"}
    os.environ.pop("DATABASE_URL", None)
    django.setup()
    call_command("migrate", verbosity=0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as own:
        prepare_database(Path(own))
        raise SystemExit(main())
