"""A small benchmark with two runs, one from a file, and a pin of both. Made first, all their ids are 1."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

NAME: Final = "measured"
CODE: Final = (
    'def double(number):\n    """Twice as much."""\n    return 2 * number\n',
    "def halve(number):\n    return number / 2\n",
    "def shout(text, marks=1, *, keep_the_case_of_letters=False):\n    return text.upper() * marks\n",
)
PAIRS: Final = (("double a number", 0, 1), ("double a number", 1, 0), ("shout loud", 2, 1))
RUN: Final = "double a number\tQ0\t1\t1\t2\tx\ndouble a number\tQ0\telsewhere\t2\t1\tx\n"


def measure() -> None:
    """Import the pairs and score bag of words and a run file. Needs Django set up."""
    from django.core.management import call_command

    with TemporaryDirectory() as folder:
        pairs, codebase, run = (
            Path(folder, name) for name in ("pairs.json", "code.json", "a-run-from-a-file.trec")
        )
        rows = [
            {"idx": f"q-{query[:4]}", "doc": query, "code": CODE[code], "label": label}
            for query, code, label in PAIRS
        ]
        pairs.write_text(json.dumps(rows))
        codebase.write_text(json.dumps({code: number for number, code in enumerate(CODE)}))
        run.write_text(RUN)
        call_command("import", "cosqa", str(pairs), "--codebase", str(codebase), "--name", NAME, verbosity=0)
        call_command("evaluate", NAME, "--encoder", "bow", "--run", str(run), verbosity=0)
    call_command("pin", "--benchmark", NAME, verbosity=0)
