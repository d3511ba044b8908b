"""The verbs of `cosqa`: for each a short help, and the command of the application that does it.

Options here are the usual ones. The application's command takes more, and `cosqa admin` shows all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

OPTION_WIDTH: Final = 24


@dataclass(frozen=True)
class Verb:
    """`usage` follows the verb, `command` are the words that manage.py gets before what was typed."""

    name: str
    summary: str
    usage: str
    command: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[str, ...] = ()

    @property
    def help(self) -> str:
        """A screen of text: usage, what it does, the usual options, examples."""
        lines = [f"cosqa {self.name} {self.usage}".rstrip(), "", f"{self.summary}."]
        if self.options:
            lines += ["", *(f"  {name:{OPTION_WIDTH}}{text}" for name, text in self.options.items())]
        if self.examples:
            lines += ["", *(f"  $ cosqa {example}" for example in self.examples)]
        return "\n".join([*lines, "", f"All options: cosqa admin {' '.join(self.command)} --help"])

    @property
    def option_names(self) -> list[str]:
        """The names that begin with a dash, as they are typed: `-k N` is `-k`."""
        return [name.split()[0] for name in self.options if name.startswith("-")]

    @property
    def words(self) -> list[str]:
        """The names of what the verb is divided in, such as `list` of `study`."""
        return [name.split()[0] for name in self.options if name[0].islower()]


JSON: Final = {"--json": "print the result as JSON"}
ADDRESS: Final = {
    "--host ADDRESS": "address to serve on (default 127.0.0.1)",
    "--port PORT": "port to serve on (default 8000)",
}

VERBS: Final = (
    Verb(
        "init",
        "Make data folder, database and an admin; say what is missing",
        "[options]",
        ("init",),
        {"--admin NAME": "name of the admin's account (default admin)", **JSON},
        ("init",),
    ),
    Verb(
        "serve",
        "Serve the pages and do the work that is waiting",
        "[options]",
        ("serve",),
        {**ADDRESS, "--no-workers": "serve pages only; workers run elsewhere", **JSON},
        ("serve --port 8001",),
    ),
    Verb(
        "demo",
        "Build the sample, which needs no key, and serve it",
        "[options]",
        ("demo",),
        {**ADDRESS, "--no-serve": "end after the build", **JSON},
        ("demo",),
    ),
    Verb(
        "import",
        "Read queries, functions and labels from files",
        "FORMAT PLACE --name NAME",
        ("import",),
        {
            "python": "functions out of folders, archives, Git or stdlib",
            "documented": "documented functions, their text as queries",
            "cosqa": "queries and labels with their code base, as JSON",
            "table": "JSON Lines, JSON, CSV or TSV with your columns",
            "beir": "a folder of BEIR or MTEB",
            "codesearchnet": "CodeSearchNet's functions",
            "release": "a folder that export release wrote",
            "qrels": "labels for collections that are there",
            **JSON,
        },
        (
            "import python src/ --name ours",
            "import cosqa queries.json --codebase code_idx_map.txt --name theirs",
            "import table --help",
        ),
    ),
    Verb(
        "build",
        "Find functions for queries and have each pair judged",
        "NAME --queries NAME --functions NAME [options]",
        ("build",),
        {
            "--queries NAME": "collection of queries",
            "--functions NAME": "collection of functions",
            "--pairs NAME|FILE": "judge these pairs; find none",
            "--encoders NAMES": "with commas (default bm25,bow)",
            "-k N": "functions for each query (default 20)",
            "--limit N": "at most so many pairs",
            "--provider WHO": "live, exchange or recorded (default exchange)",
            "--model NAME": "model that is asked",
            "--estimate": "only say what it would take",
            "--budget DOLLARS": "stop there (default: no cap)",
            "--config FILE": "take the whole order from a YAML file",
            "--show-config BUILD": "print the order of a build as YAML",
            **JSON,
        },
        ("build first --queries questions --functions ours --limit 1000",),
    ),
    Verb(
        "exchange",
        "Write requests as files and read the replies; no key needed",
        "export|import BUILD [FILE …]",
        ("exchange",),
        {
            "export": "write the requests that wait",
            "  --out FILE": "where to (default: standard output)",
            "import": "read replies: lines with id and reply",
            "  --model NAME": "which model answered",
            **JSON,
        },
        (
            "exchange export first --out requests.jsonl",
            "exchange import first replies.jsonl --model claude-haiku-4-5",
        ),
    ),
    Verb(
        "status",
        "Show how far builds and orders are, and what they wait for",
        "[BUILD] [options]",
        ("status",),
        {"--all": "all builds (default: the newest 20)", **JSON},
        ("status", "status first --json"),
    ),
    Verb(
        "review",
        "Show what waits for a person, and where",
        "[BUILD] [options]",
        ("review",),
        {
            "--address URL": "where it is served (default http://127.0.0.1:8000)",
            "--open": "open the first page in a browser",
            **JSON,
        },
        ("review first --open",),
    ),
    Verb(
        "study",
        "List, make, start, close, publish and export studies",
        "ACTION [options]",
        ("study",),
        {
            "list": "studies, their states and how many ratings they have",
            "new": "a draft from a JSON file",
            "start": "start a draft",
            "plan": "print the plan",
            "export": "print the ratings",
            "score": "add annotators to the figures of a closed study",
            "close": "end a study; --reason where pairs have no rating",
            "publish": "make labels of a closed study's decisions",
            "paper": "write methods, tables and charts as LaTeX",
            **JSON,
        },
        ("study list", "study export NAME > ratings.jsonl"),
    ),
    Verb(
        "publish",
        "Make a benchmark of a build's labels",
        "NAME --build BUILD [options]",
        ("benchmark", "publish"),
        {
            "--build BUILD": "name or number of the build",
            "--corrects BENCHMARK": "correct the labels of this benchmark",
            "--dry-run": "only count; publish nothing",
            **JSON,
        },
        ("publish plus --build first",),
    ),
    Verb(
        "train",
        "Train a search system on a benchmark's matches",
        "BENCHMARK --system NAME[:FOLDER] [options]",
        ("train",),
        {
            "--system NAME": "minilm, codebert, unixcoder, codet5p, nbow, cnn, …",
            "--out FOLDER": "where it is written",
            "--resume": "continue a training that was stopped",
            "--without NAMES": "learn nothing of these benchmarks",
            "--shuffle-labels": "control: the same pairs, wrong labels",
            "--minutes N": "stop after so many",
            **JSON,
        },
        ("train plus --system nbow --by-project",),
    ),
    Verb(
        "evaluate",
        "Score search systems on a benchmark",
        "BENCHMARK [options]",
        ("evaluate",),
        {
            "--encoder NAMES": "encoders by name: bm25, minilm, …",
            "--rerank NAME:/FOLDER": "let a model rank the first results again",
            "--run [NAME=]FILE": "ranked lists of a system of yours",
            "--metrics NAMES": "with commas: ndcg@10,mrr@10, …",
            **JSON,
        },
        ("evaluate plus --encoder bm25 bow --run mine=run.trec",),
    ),
    Verb(
        "leaderboard",
        "Compare the systems that were scored on a benchmark",
        "BENCHMARK [options]",
        ("leaderboard",),
        {"--metric NAME": "order by it (default ndcg@10)", **JSON},
        ("leaderboard plus --metric mrr@10",),
    ),
    Verb(
        "export",
        "Write a benchmark in a format that others read",
        "FORMAT BENCHMARK FOLDER",
        ("export",),
        {
            "release": "queries, functions and pairs, as CoSQA⁺ has them",
            "beir": "a folder of BEIR or MTEB",
            "huggingface": "a folder that datasets loads, with its card",
            "parquet": "Parquet files (extra parquet)",
            "qrels": "TREC qrels, with the texts",
            "coclr": "CoCLR's CoSQA",
            "everything": "the whole data folder, for another one",
            **JSON,
        },
        ("export beir plus plus-beir/",),
    ),
    Verb(
        "check",
        "Look whether database, sandbox, disk and model can be used",
        "",
        ("check", "--tag", "health"),
        {**JSON},
        ("check",),
    ),
)
NAMED: Final = {verb.name: verb for verb in VERBS}
