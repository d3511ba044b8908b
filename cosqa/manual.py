"""The text of `docs/cli.md`, out of the verbs; a test holds the file to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cosqa.verbs import VERBS, Verb

EXIT_CODES: Final = {
    0: "Done.",
    1: "Not done. The last line on standard error says why.",
    2: "The command is wrong: an unknown verb, option or value.",
    3: "Some records or lines were refused; all others are stored. `reproduce`: the figures differ.",
    75: "The disk is full. Make room and type the command again.",
    130: "Stopped with Ctrl-C. Work that is not finished goes on at the next start.",
}
NOTEBOOK: Final = """## In a notebook

[notebook.ipynb](notebook.ipynb) shows `score` and `Sandbox`. `Client` speaks to a running server, and does
what its pages do:

```python
from cosqa import Client

token = "…"  # cosqa admin token USER --name NAME
with Client(token, "http://127.0.0.1:8000") as client:
    client.import_files("mine", "table", {"file": "mine.csv"})
    build = client.launch("mine", queries="mine", functions="mine", k=5)
    client.answer(build["id"], "my-model", ask_my_model)  # a function: request in, reply out
    benchmark = client.publish(build["id"])
    client.score(benchmark["id"], ["bm25"])
    board = client.leaderboard(benchmark["id"], metric="ndcg@10")
    client.export(benchmark["id"], "beir", "mine.zip")
```

[client.py](examples/client.py) is the whole script, [rest.py](examples/rest.py) the same by HTTP alone.
`Encoder("minilm").embed(texts)` gives an encoder's vectors.

`Client` needs nothing else. `score`, `Sandbox` and `Encoder` load two packages of the application,
`retrieval` and `sandbox`. If another package of such a name is loaded already, they raise `ForeignPackage`
and say which.
"""
HEAD: Final = """# The command line

`cosqa` comes with the package; in a checkout it is `.venv/bin/cosqa`. This page is made of the verbs' help.

- `cosqa --help` lists the verbs, `cosqa VERB --help` has the usual options and an example.
- `cosqa admin COMMAND` runs every other command of the application. It takes what `manage.py COMMAND` takes.
- `--json` works with every verb. It prints one JSON object on standard output; progress and warnings go to
  standard error. Where something failed the object has `error` and `exit_code`.
- An error is one line on standard error: `cosqa: …`.
- Data lie in the folder that `COSQA_HOME` names, else in the platform's folder for data (Linux:
  `~/.local/share/cosqa`), in a checkout in `var/`.
- After an upgrade the first command backs the data up, brings the database up to date and says so. If the
  backup fails, nothing is changed ([running.md](running.md#upgrading)).

Completion by Tab, for the shell that is open or in its start file:

```
eval "$(_COSQA_COMPLETE=bash_source cosqa)"     # bash
eval "$(_COSQA_COMPLETE=zsh_source cosqa)"      # zsh
_COSQA_COMPLETE=fish_source cosqa | source      # fish
```
"""


def write_manual(commands: Mapping[str, str]) -> str:
    """The page as Markdown; `commands` has a sentence about each command of the application."""
    verbs = map(write_verb, VERBS)
    parts = [HEAD, write_exit_codes(), NOTEBOOK, "## Verbs\n", *verbs, write_commands(commands)]
    return "\n".join(parts)


def write_exit_codes() -> str:
    rows = [f"| {code} | {text} |" for code, text in EXIT_CODES.items()]
    return "\n".join(["## Exit codes", "", "| code | meaning |", "| --- | --- |", *rows, ""])


def write_verb(verb: Verb) -> str:
    return f"### {verb.name}\n\n```\n{verb.help}\n```\n"


def write_commands(commands: Mapping[str, str]) -> str:
    rows = [f"| `{name}` | {text} |" for name, text in sorted(commands.items())]
    text = (
        "Django's own, such as `migrate` and `shell`, work too. `cosqa admin celery …` is Celery's command."
    )
    return "\n".join(
        ["## cosqa admin", "", text, "", "| command | what it does |", "| --- | --- |", *rows, ""]
    )
