"""Ratings as files: every revision with its pseudonym, in stable columns. No assisted label is in them."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from io import StringIO
from itertools import islice
from typing import Any, Final

from annotation.models import Amendment, CallRequest, ExecutionRequest, Rating, Study
from annotation.models.reviews.marked_code import MARK_COLUMNS
from annotation.studies.plan.plan import format_canonical_plan, hash_plan, plan_of
from retrieval.models import TextBody
from retrieval.texts.spreadsheets import escape_formula_cell

CHUNK: Final = 500
NO_RULE: Final = {"excluded_by": None, "excluded_why": ""}
"""The status of a rater who is not excluded by an amendment."""
PATHS: Final[Mapping[str, str]] = {
    "pair": "assignment__study_pair__number",
    "query": "assignment__study_pair__pair__query__body_id",
    "query_text": "assignment__study_pair__pair__query__head",
    "snippet": "assignment__study_pair__pair__snippet__body_id",
    "other_snippet": "assignment__study_pair__other__snippet__body_id",
    "swapped": "assignment__swapped",
    "planted": "assignment__study_pair__planted",
    "condition": "assignment__condition__kind",
    "rater": "assignment__enrolment__pseudonym",
    "round": "assignment__round",
    "phase": "phase",
    "revision": "revision",
    "withdrawn": "withdrawn",
    "value": "value",
    "reason": "reason",
    "notes": "notes",
    "tags": "tags",
    "seconds": "seconds",
    "guidelines": "guideline__version",
    "docstring": "docstring",
    "evidence": "evidence",
    "created_at": "created_at",
    "reading": "reading",
    "stratum": "assignment__study_pair__stratum",
    "probability": "assignment__study_pair__probability",
    "calls": "calls",
    "runs": "runs",
    "answer": "assignment__study_pair__answer",
    "excluded": "assignment__enrolment__excluded",
    "state": "assignment__state",
    "marked_first": "marked_first",
    "marked_last": "marked_last",
    "marked_code": "marked_code",
    "no_test": "no_test",
}
"""Where the columns of an export come from."""
ADDED: Final = ("answer", "excluded", "excluded_by", "excluded_why", "state", *MARK_COLUMNS, "no_test")
"""The last ones: a planted pair's known value; whether the rater is left out, by which amendment, why; the
assignment's state: *left_out* where the rating is in no figure, as its place was given to another one; and
the first and last line of the function that are marked as the reason, with the sha256 of that function; and
why no test is possible."""
LOOKED_UP: Final = ("calls_sha256", "runs_sha256", "query_whole")
"""Those that are read beside the rows: hashes of each call's expression and of each run's program."""
COLUMNS: Final = (*(name for name in PATHS if name not in ADDED), *LOOKED_UP, *ADDED)
"""All of them, in order. New ones are added at the end."""


def export_rating_revisions(study: Study) -> Iterator[dict[str, Any]]:
    """Every revision of every rating of the study, by pair, rater, phase and revision."""
    rows = Rating.objects.filter(assignment__enrolment__study=study).order_by(
        "assignment__study_pair__number", "assignment__enrolment__pseudonym", "assignment__round", "pk"
    )
    found = rows.values_list(*PATHS.values()).iterator(CHUNK)
    while some := list(islice(found, CHUNK)):
        yield from build_rating_records(study, some)


def list_revisions_after(study: Study, after: int, most: int) -> list[tuple[int, dict[str, Any]]]:
    """At most so many revisions after the one of that id, each with its own id, the oldest first."""
    rows = Rating.objects.filter(assignment__enrolment__study=study, pk__gt=after).order_by("pk")
    found = list(rows.values_list("pk", *PATHS.values())[:most])
    return list(
        zip([pk for pk, *_ in found], build_rating_records(study, [row for _, *row in found]), strict=True)
    )


def build_rating_records(study: Study, rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Rows by their columns; `calls` and `runs` become counts. Four queries more."""
    plainly = [dict(zip(PATHS, map(convert_to_plain_cell, row), strict=True)) for row in rows]
    bodies = TextBody.objects.in_bulk({row["query"] for row in plainly})
    calls = hashes_of_calls({pk for row in plainly for pk in row["calls"]})
    runs, rules = hashes_of_runs({pk for row in plainly for pk in row["runs"]}), exclusions_of_study(study)
    whole = [
        row
        | rules.get(row["rater"], NO_RULE)
        | {
            "calls": len(row["calls"]),
            "runs": len(row["runs"]),
            "calls_sha256": [calls[pk] for pk in row["calls"] if pk in calls],
            "runs_sha256": [runs[pk] for pk in row["runs"] if pk in runs],
            "query_whole": bodies[row["query"]].text if row["query"] in bodies else row["query_text"],
        }
        for row in plainly
    ]
    return [{name: row[name] for name in COLUMNS} for row in whole]


def hashes_of_calls(keys: Iterable[int]) -> dict[int, str]:
    """By call: sha256 of its expression."""
    rows = CallRequest.objects.filter(pk__in=sorted(keys)).values_list("pk", "expression")
    return {pk: hashlib.sha256(expression.encode()).hexdigest() for pk, expression in rows}


def hashes_of_runs(keys: Iterable[int]) -> dict[int, str]:
    """By run: sha256 of its program."""
    rows = ExecutionRequest.objects.filter(pk__in=sorted(keys))
    return dict(rows.values_list("pk", "program__source_id"))


def convert_to_plain_cell(cell: Any) -> Any:
    return cell.isoformat() if isinstance(cell, datetime) else cell


def flatten_csv_cell(cell: Any) -> object:
    """A list or an object is written as JSON; nothing is a formula."""
    plain = json.dumps(cell, ensure_ascii=False) if isinstance(cell, list | dict) else cell
    return escape_formula_cell(plain)


def as_csv(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The rows as lines of a CSV with a header."""
    names = list(columns)
    yield line_of(names)
    for row in rows:
        yield line_of([flatten_csv_cell(row[name]) for name in names])


def line_of(cells: Iterable[Any]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue()


def stream_json_array(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The rows as one JSON array, a row a line."""
    before = "[\n"
    for row in rows:
        yield before + json.dumps(row, ensure_ascii=False)
        before = ",\n"
    yield "\n]\n" if before != "[\n" else "[]\n"


def plan_json(study: Study) -> str:
    """The plan's canonical JSON: the text whose sha256 is the plan's hash, without a line end."""
    return format_canonical_plan(study.plan if study.frozen_at else plan_of(study))


def plan_markdown(study: Study, amendments: Iterable[Amendment] = ()) -> str:
    """The plan to be read, as for a pre-registration: each part, its hash, its amendments."""
    plan = (study.plan if study.frozen_at else None) or plan_of(study)
    state = f"Frozen {study.frozen_at:%Y-%m-%d %H:%M} UTC" if study.frozen_at else "Not frozen yet"
    lines = [
        f"# Plan of {one_line(study.name)}",
        "",
        f"{state}. sha256 of the canonical JSON: `{study_hash(study)}`.",
    ]
    for name, value in plan.items():
        if name not in {"format", "study"}:
            lines += ["", f"## {name.replace('_', ' ').capitalize()}", "", in_markdown(value)]
    for amendment in amendments:
        when = f"{amendment.at:%Y-%m-%d %H:%M} UTC"
        lines += [
            "",
            f"## Amendment {amendment.number}, {when}",
            "",
            amendment.reason,
            "",
            f"Hash after it: `{amendment.plan_hash}`.",
        ]
    return "\n".join(lines) + "\n"


def study_hash(study: Study) -> str:
    return study.plan_hash or hash_plan(plan_of(study))


def one_line(text: str) -> str:
    return " ".join(text.split())


def in_markdown(value: Any) -> str:
    if value in (None, "", [], {}):
        return "None."
    if isinstance(value, str | int | float):
        return str(value)
    return "```json\n" + json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n```"


def diff_study_plans(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Where two plans part: the place, what stood there, what stands there now."""
    before, after = index_by_name(before), index_by_name(after)
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            inner = f"{path} › {name.replace('_', ' ')}" if path else name.replace("_", " ")
            yield from diff_study_plans(before.get(name), after.get(name), inner)
    elif format_canonical_plan(before) != format_canonical_plan(after):
        yield path, format_plan_value(before), format_plan_value(after)


def index_by_name(value: Any) -> Any:
    """A list of conditions or of raters by what each is called, so that one of them alone is told."""
    for name in ("kind", "pseudonym"):
        if isinstance(value, list) and value and all(isinstance(one, dict) and name in one for one in value):
            return {one[name]: one for one in value}
    return value


def format_plan_value(value: Any) -> str:
    if value in (None, "", []):
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def exclusions_of_study(study: Study) -> dict[str, dict[str, Any]]:
    """By pseudonym, of who is left out now, in the columns of an export. One query.

    Whoever was taken in again is not there.
    """
    found: dict[str, dict[str, Any]] = {}
    for amendment in study.amendments.order_by("number"):
        before, after = left_out(amendment.before), left_out(amendment.after)
        rule = {"excluded_by": amendment.number, "excluded_why": amendment.reason}
        found |= dict.fromkeys(after - before, rule)
        found = {pseudonym: told for pseudonym, told in found.items() if pseudonym not in before - after}
    return found


def left_out(plan: Mapping[str, Any]) -> set[str]:
    """The raters whom a plan excludes."""
    raters = [rater for condition in plan["conditions"] for rater in condition["raters"]]
    return {str(rater["pseudonym"]) for rater in raters if rater.get("excluded")}
