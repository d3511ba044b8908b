"""For each format of uploads what to choose, an example of it, and the command for what is too large."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Final

from retrieval.sources.code.archives import TARS, ZIPS
from retrieval.sources.code.languages import LANGUAGES
from retrieval.sources.readers.compression import PACKED
from retrieval.uploads import Format

SOURCES: Final = (".py", *ZIPS, *TARS, ".ipynb")
KINDS: Final = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt")
TABLES: Final = (*(f"{kind}{packed}" for kind in KINDS for packed in ("", *PACKED)), ".parquet")
ZIP: Final = (".zip",)
PICKLES: Final = (".pickle", ".pkl")


@dataclass(frozen=True, slots=True)
class Guide:
    """`hint` says what to upload; `example` are the beginnings of its files; `endings` those of the first."""

    format: Format
    hint: str
    example: tuple[tuple[str, str], ...]
    endings: tuple[str, ...]
    arguments: str = "PATH"

    @property
    def command(self) -> str:
        """How the same is imported on the server."""
        return f"cosqa import {self.format} {self.arguments} --name NAME"


QUERY: Final = '[{"query-idx": 0, "query": "sort a list"}]'
CODE: Final = '[{"code-idx": 0, "code": "def f(x):\\n    return sorted(x)"}]'
PAIR: Final = (
    '[{"pair-idx": 0, "query-idx": 0, "query": "sort a list", "code-idx": 0,\n'
    '  "code": "def f(x):\\n    return sorted(x)", "label": 1}]'
)
RELEASED: Final = (("query.json", QUERY), ("codebase.json", CODE), ("pairs.json", PAIR))
SUM: Final = "def add(a, b):\n    total = a + b\n    return total"
GUIDES: Final = (
    Guide(
        Format.COSQA,
        "Two files: queries or labelled pairs, and the code base that maps each function to its index; or "
        "pairs alone: then their own code becomes the functions.",
        (
            (
                "dev.json",
                (
                    '[{"idx": "dev-0", "doc": "sort a list", "label": 1,\n'
                    '  "code": "def f(x):\\n    return sorted(x)"}]'
                ),
            ),
            ("code_idx_map.txt", '{"def f(x):\\n    return sorted(x)": 0}'),
        ),
        (".json", ".jsonl", ".txt"),
        "FILE --codebase FILE",
    ),
    Guide(
        Format.COSQA_PLUS,
        "A zip of the release\u2019s folder; or query.json here, and codebase.json and pairs.json below. One "
        "file alone is enough: query.json becomes a collection of queries, codebase.json one of functions, "
        "and pairs.json holds both. The authors’ own file names (test_agent_query.json …) work, too.",
        RELEASED,
        (".json", ".zip"),
        "PATH",
    ),
    Guide(
        Format.RELEASE,
        "The zip that Exports of a benchmark gives as a release. It becomes the same benchmark, by its "
        "sha256, with origins, licences and who gave each label.",
        (*RELEASED, ("workbench.json", '{"format": "cosqa-workbench …", "digest": …}')),
        ZIP,
        "FOLDER",
    ),
    Guide(
        Format.TABLE,
        "One file with a header (CSV, TSV) or an object a line (JSON Lines). On the next page you say which "
        "column is what: queries, functions or both; labels, ids, origin and licence where there are any.",
        (
            (
                "pairs.csv",
                (
                    'question,answer,judged\nsort a list,"def f(x):\n    return sorted(x)",1\n'
                    'read a file,"def f(x):\n    return sorted(x)",0'
                ),
            ),
        ),
        TABLES,
        "FILE --query COLUMN --function COLUMN",
    ),
    Guide(
        Format.BEIR,
        "A zip of the folder with corpus.jsonl, queries.jsonl and qrels/, each also with .gz or as Parquet. "
        "Where it has several data sets (python-corpus/, go-corpus/ …), name one as configuration below.",
        (
            ("corpus.jsonl", '{"_id": "d1", "title": "", "text": "def f(x):\\n    return sorted(x)"}'),
            ("queries.jsonl", '{"_id": "q1", "text": "sort a list"}'),
            ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1"),
        ),
        ZIP,
        "FOLDER",
    ),
    Guide(
        Format.QRELS,
        "One file of judgements of queries and functions that are here already: query, iteration, document, "
        "relevance, by source ids; or CodeSearchNet\u2019s annotationStore.csv.",
        (("qrels.txt", "q1 0 d1 1\nq1 0 d2 0\nq2 0 d2 1"),),
        (".txt", ".qrels", ".tsv", ".trec", ".csv"),
        "FILE --queries NAME --functions NAME",
    ),
    Guide(
        Format.PYTHON,
        "Source files; every function is kept. Nothing is unpacked on disk, and nothing is run.",
        (("sums.py", SUM),),
        SOURCES,
    ),
    Guide(
        Format.DOCUMENTED,
        "Sources of one language; each documented function comes with a query, the first paragraph of its "
        "documentation, label 1.",
        (("sums.py", SUM.replace(":\n", ':\n    """Add two numbers."""\n', 1)),),
        (*chain.from_iterable(known.endings for known in LANGUAGES.values()), *ZIPS, *TARS),
        f"PATH --language {'|'.join(LANGUAGES)}",
    ),
    Guide(
        Format.CODESEARCHNET,
        "One file of JSON Lines, also packed, or of Parquet, as CodeSearchNet and extract write them; or "
        "a zip of such files in any folders, such as the published python.zip; or the pickle of all "
        "functions, python_dedupe_definitions_v2.pkl.",
        (
            (
                "python_test_0.jsonl",
                (
                    '{"repo": "a/b", "path": "m.py", "func_name": "f", "language": "python", '
                    '"code": "def f(x):\\n    return sorted(x)"}'
                ),
            ),
        ),
        (".jsonl", *(f".jsonl{packed}" for packed in PACKED), ".parquet", ".zip", ".pkl"),
    ),
    Guide(
        Format.STAQC,
        "The pickle of code by question and place; with that of titles the questions too, label 1. Both are "
        "read without running anything. They hold:",
        (
            ("iid_to_code.pickle", '{(5870537, 0): "for x in names:\\n    print(x)"}'),
            ("qid_to_title.pickle", '{5870537: "Print each name of a list"}'),
        ),
        PICKLES,
        "FILE --titles FILE",
    ),
    Guide(
        Format.NCS,
        "287_android_questions.json: the questions. The answers of Stack Overflow are no search pool; the "
        "methods that match are read on the server, from checkouts.",
        (
            (
                "287_android_questions.json",
                (
                    '[{"stackoverflow_id": "1109022", "question": "Hide the soft keyboard",\n'
                    '  "answer": "imm.hideSoftInputFromWindow(token, 0);"}]'
                ),
            ),
        ),
        (".json",),
        "FILE --code DIR",
    ),
)
BY_FORMAT: Final = {guide.format.value: guide for guide in GUIDES}
