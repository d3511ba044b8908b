"""Which column of an uploaded table is what: guessed from the header, for a person to change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import forms

from annotation.web.cases.code import spell_unseen_characters
from retrieval.jobs import path_of_job_file
from retrieval.models import Job
from retrieval.sources import Problem
from retrieval.sources.formats.table import ROLES, Columns, Peek, guess_column_roles, peek_table_file
from retrieval.uploads import by_name

NONE: Final = ("", "none")
LONGEST_CELL: Final = 160
ROWS_SHOWN: Final = 5
COLUMNS_SHOWN: Final = 12
LABELS: Final = {
    "query": "Queries",
    "snippet": "Functions",
    "label": "Labels",
    "query_id": "Ids of the queries",
    "snippet_id": "Ids of the functions",
    "origin": "Where a row comes from",
    "licence": "Licence",
}
HINTS: Final = {
    "label": "The label of the row’s pair. If it is empty, the pair stays unjudged.",
    "query_id": "None: the number of the row.",
    "snippet_id": "None: the number of the row.",
    "origin": "Such as a link. None: the name of the file.",
}
SCALES: Final = [
    ("binary", "1 match, 0 no match"),
    ("graded", "0 to 3, as in CodeSearchNet"),
    ("whole", "whole numbers up to 1,000, a match above 0"),
]


class ColumnsForm(forms.Form):
    """A column for each role. `seen` has the names that can be chosen."""

    scale = forms.ChoiceField(choices=SCALES, label="Labels are")

    def __init__(self, seen: Peek, data: Any = None) -> None:
        super().__init__(data, initial=guess_column_roles(seen))
        names = [NONE, *((name, spell_unseen_characters(name[:LONGEST_CELL])) for name in seen.columns)]
        chosen: dict[str, forms.Field] = {
            role: forms.ChoiceField(
                choices=names, required=False, label=LABELS[role], help_text=HINTS.get(role, "")
            )
            for role in ROLES
        }
        self.fields = {**chosen, **self.fields}
        self.order_fields(["query", "snippet", "label", "scale"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        if cleaned["query"] and cleaned["query"] == cleaned["snippet"]:
            self.add_error("snippet", "One column can\u2019t be both the queries and the functions.")
        try:
            Columns(**cleaned)
        except ValueError as why:
            message = str(why)
            self.add_error(None, f"{message[0].upper()}{message[1:]}.")
        return cleaned

    def order(self, job: Job) -> bool:
        """Let a worker import the table of a valid form; False where another person already did."""
        waiting = Job.objects.filter(pk=job.pk, state=Job.State.COLUMNS)
        order = {**job.order, "options": self.cleaned_data}
        return bool(waiting.update(state=Job.State.WAITING, order=order))


def columns_page(job: Job, seen: Peek) -> dict[str, Any]:
    """The first rows of a table as (name, cell), cut, of its first columns. `more`: columns not shown."""
    header = seen.columns[:COLUMNS_SHOWN]
    rows = [[(name, _cell(row, name)) for name in header] for row in seen.rows[:ROWS_SHOWN]]
    return {"job": job, "header": header, "rows": rows, "more": len(seen.columns) - len(header)}


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    text = "" if value is None else str(value)
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]} …"


def peek_uploaded_table(job: Job) -> Peek | str:
    """What the table has, or why it can't be read any more."""
    seen = peek_table_file(path_of_job_file(job))
    return by_name(job, str(seen)) if isinstance(seen, Problem) else seen
