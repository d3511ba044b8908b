"""Pins: a published figure with all that is needed to compute it again, and the computing again.

A pin of a leaderboard is computed from the stored lists and labels, one of a study from its stored ratings
and labels; neither reads a figure that was kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from django.db.models import QuerySet

from annotation.access import Visitor, benchmarks_visible_to
from annotation.agreement import Figure
from annotation.launching import Actor, person
from annotation.models import AuditEvent, Build, BuildEvent, Rating, Study
from annotation.studies.figures import NoFigures, compute, figures_of, refuse_to_raters, version_of
from annotation.studies.tables import Cell, Table, tables
from retrieval.evaluation import pinned
from retrieval.evaluation.leaderboard import Queries
from retrieval.evaluation.pinned import NotPinned, unequal
from retrieval.evaluation.running import sources_version
from retrieval.models import Benchmark, Pin, Run

Json = dict[str, Any]
INFORMING: Final = ("code", "searched_by", "last_event", "history")
"""Parts of the ground that may change without making the figure another one: they are told, and no more."""
SHORTEST_NAME: Final = 6


class NoSuchPin(LookupError):
    """No pin has this name; the message says how names look."""


@dataclass(frozen=True, slots=True)
class Reproduced:
    """What came out. `differences` in words, empty where the figure is equal; `remarks` are what changed
    beside it, as the code.
    """

    pin: Pin
    value: Json | None
    differences: Sequence[str]
    remarks: Sequence[str]

    @property
    def equal(self) -> bool:
        return not self.differences


def pin_run(run: Run, metric: str, queries: Queries, user: Actor = None) -> Pin:
    """Pin a figure of the leaderboard; the same again is the same pin. Raises `NotPinned`."""
    value = pinned.shown(run, metric, queries)
    ground = pinned.ground_of(run, metric) | {"last_event": last_event(run.benchmark)}
    title = f"{metric} of {run.title} on {run.benchmark}"
    return _keep(Pin.Kind.LEADERBOARD, title, pinned.subject_of(run, metric, queries), value, ground, user)


def pin_study(study: Study, table: str, row: str, column: str, user: Actor = None) -> Pin:
    """Pin one cell of a study's tables. Raises `NotPinned`, and `NoFigures`."""
    found = figures_of(study)
    value = cell_of(tables(found), table, row, column)
    subject = {"study": study.pk, "name": study.name, "table": table, "row": row, "column": column}
    if found.page:
        subject |= {"seed": found.page.seed, "draws": found.page.draws}
    return _keep(
        Pin.Kind.STUDY,
        f"{column} of {row} in study “{study.name}”",
        subject,
        value,
        study_ground(study),
        user,
    )


def _keep(kind: str, title: str, subject: Json, value: Json, ground: Json, user: Actor) -> Pin:
    subject, value, ground = json.loads(json.dumps([subject, value, ground], default=float))
    facts = json.dumps([kind, subject, value, ground], sort_keys=True)
    digest = hashlib.sha256(facts.encode()).hexdigest()
    rest = {"kind": kind, "title": title[:300], "subject": subject, "value": value, "ground": ground}
    return Pin.objects.get_or_create(digest=digest, defaults={**rest, "created_by": person(user)})[0]


def last_event(benchmark: Benchmark) -> str:
    """The newest event in the history of the builds whose labels it may have; else its publication."""
    builds = Build.objects.filter(mining__isnull=False, mining=benchmark.mining_id)
    event = BuildEvent.objects.filter(build__in=builds).order_by("-pk").first()
    if event is not None:
        return f"{event.pk}: {event.event}"
    return f"published {benchmark.published_at.isoformat(timespec='seconds')}"


def study_ground(study: Study) -> Json:
    """What a study's figures rest on now."""
    event = AuditEvent.objects.filter(study=study).order_by("-pk").first()
    return {
        "plan": study.plan_hash,
        "said": version_of(study),
        "ratings": Rating.objects.filter(assignment__enrolment__study=study).count(),
        "last_event": f"{event.pk}: {event.verb}" if event else "",
        "code": sources_version(Path(__file__).resolve().parent),
    }


def cell_of(found: Sequence[Table], table: str, row: str, column: str) -> Json:
    """A cell as JSON. Raises `NotPinned`, with what there is."""
    of = next((one for one in found if one.key == table), None)
    if of is None:
        raise NotPinned(f"There is no table {table!r}; there are {', '.join(one.key for one in found)}.")
    cells = next((one for one in of.rows if one[0] == row), None)
    if cells is None:
        raise NotPinned(
            f"Table {table!r} has no row {row!r}; its rows are {_listed(one[0] for one in of.rows)}."
        )
    if column not in of.columns[1:]:
        raise NotPinned(f"Table {table!r} has no column {column!r}; it has {_listed(of.columns[1:])}.")
    return as_json(cells[of.columns.index(column)])


def _listed(names: Any) -> str:
    return ", ".join(repr(str(name)) for name in names)


def as_json(cell: Cell) -> Json:
    return asdict(cell) if isinstance(cell, Figure) else {"value": cell}


def reproduce(pin: Pin) -> Reproduced:
    """Compute a pin's figure again and say whether it is equal, or what differs."""
    try:
        value, ground = AGAIN[pin.kind](pin)
    except (NotPinned, NoFigures) as why:
        return Reproduced(pin, None, [str(why)], [])
    changed = {name for name in ground if ground[name] != pin.ground.get(name)}
    deciding = {name: pin.ground.get(name) for name in ground if name not in INFORMING}
    differences = unequal(pin.value, json.loads(json.dumps(value, default=float)), "value")
    if differences or pin.kind == Pin.Kind.LEADERBOARD:
        differences += unequal(deciding, {name: ground[name] for name in deciding}, "")
    remarks = [
        line
        for name in sorted(changed)
        if name in INFORMING or not differences
        for line in unequal(pin.ground.get(name), ground[name], name)
    ]
    return Reproduced(pin, value, differences, remarks)


def _study_again(pin: Pin) -> tuple[Json, Json]:
    study = Study.objects.filter(pk=pin.subject["study"]).first()
    if study is None:
        raise NotPinned(f"Study “{pin.subject['name']}” is not there any more.")
    where = pin.subject
    value = cell_of(tables(compute(study)), where["table"], where["row"], where["column"])
    return value, study_ground(study)


def _run_again(pin: Pin) -> tuple[Json, Json]:
    value, ground = pinned.again(pin)
    benchmark = Benchmark.objects.get(pk=pin.subject["benchmark_id"])
    return value, ground | {"last_event": last_event(benchmark)}


AGAIN: Final[Mapping[str, Callable[[Pin], tuple[Json, Json]]]] = {
    Pin.Kind.LEADERBOARD.value: _run_again,
    Pin.Kind.STUDY.value: _study_again,
}


def named(name: str, among: QuerySet[Pin] | None = None) -> Pin:
    """The pin whose hash begins so. Raises `NoSuchPin`."""
    rows = Pin.objects.all() if among is None else among
    found = list(rows.filter(digest__startswith=name)[:2]) if len(name) >= SHORTEST_NAME else []
    if len(found) != 1:
        raise NoSuchPin(
            f"{'Several pins begin' if found else 'No pin begins'} with {name!r}; a pin is named by the "
            f"first {SHORTEST_NAME} or more digits of its hash."
        )
    return found[0]


def may_see(user: Visitor, pin: Pin) -> bool:
    """Whether a pin's figure is open to `user`: as its benchmark or its study is."""
    if pin.kind == Pin.Kind.LEADERBOARD:
        return benchmarks_visible_to(user).filter(pk=pin.subject["benchmark_id"]).exists()
    study = Study.objects.filter(pk=pin.subject["study"]).first()
    try:
        if study is not None:
            refuse_to_raters(user, study)
    except NoFigures:
        return False
    return True
