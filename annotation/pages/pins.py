"""What the pages of pins show: the list, and one pin's figures with what they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.urls import reverse

from annotation.access import Role, Visitor, benchmarks_visible_to, builds_visible_to, has_role
from annotation.models import Build, Study
from annotation.studies.figures import NoFigures, refuse_to_raters
from annotation.studies.formats import number
from retrieval.models import Benchmark, Pin

MOST_PINS: Final = 200
MOST_ROWS: Final = 500


Cell = tuple[str, str]
"""What is printed, and its interval or why it has no value."""


@dataclass(frozen=True, slots=True)
class CellView:
    column: str
    words: str
    interval: str


@dataclass(frozen=True, slots=True)
class TableView:
    """Figures as they were pinned; `cut` rows more are in the download."""

    key: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[CellView]]
    cut: int


@dataclass(frozen=True, slots=True)
class PinPage:
    """`of` is the page of what was pinned; `facts` say what it rests on."""

    pin: Pin
    of: str
    facts: Sequence[tuple[str, str]]
    tables: Sequence[TableView]


def visible(user: Visitor, pins: Iterable[Pin]) -> list[Pin]:
    """Those whose benchmark's or study's figures are open to the person."""
    rows = list(pins)
    digests = {pin.ground["benchmark"] for pin in rows if "benchmark" in pin.ground}
    open_ones = set(benchmarks_visible_to(user).filter(digest__in=digests).values_list("digest", flat=True))
    studies = Study.objects.in_bulk({pin.subject["id"] for pin in rows if pin.kind == Pin.Kind.STUDY})
    ids = {pin.subject["id"] for pin in rows if pin.subject.get("of") == "build"}
    builds = builds_visible_to(user).filter(pk__in=ids) if ids else Build.objects.none()
    shown = {
        "study": {pk for pk, study in studies.items() if is_open(user, study)},
        "build": set(builds.values_list("pk", flat=True)),
    }
    return [pin for pin in rows if _may_see(user, pin, open_ones, shown)]


def _may_see(user: Visitor, pin: Pin, benchmarks: set[str], shown: Mapping[str, set[int]]) -> bool:
    """As on the page of what was pinned: those of collections are for admins."""
    if "benchmark" in pin.ground:
        return pin.ground["benchmark"] in benchmarks
    kind = pin.subject.get("of", "study")
    return has_role(user, Role.ADMIN) if kind == "collection" else pin.subject["id"] in shown[kind]


def is_open(user: Visitor, study: Study) -> bool:
    try:
        refuse_to_raters(user, study)
    except NoFigures:
        return False
    return True


def pins_page(user: Visitor) -> list[Pin]:
    """The newest pins that the person may see."""
    return visible(user, Pin.objects.select_related("created_by").defer("value")[:MOST_PINS])


def pin_page(pin: Pin) -> PinPage:
    tables = board_tables(pin) if pin.kind == Pin.Kind.LEADERBOARD else study_tables(pin)
    return PinPage(pin, address(pin), list(facts(pin)), tables)


def address(pin: Pin) -> str:
    """The page of what was pinned, as it is now."""
    if pin.kind == Pin.Kind.STUDY:
        return reverse("study-figures", args=[pin.subject["id"]])
    if pin.kind == Pin.Kind.CORPUS and pin.subject["of"] != "benchmark":
        return reverse(f"{pin.subject['of']}-corpus", args=[pin.subject["id"]])
    same = Benchmark.objects.filter(digest=pin.ground["benchmark"]).order_by("pk").first()
    page = "benchmark-corpus" if pin.kind == Pin.Kind.CORPUS else "benchmark"
    return reverse(page, args=[same.pk]) if same else reverse("benchmarks")


def facts(pin: Pin) -> Iterable[tuple[str, str]]:
    """What decided the figures, in the order in which people ask."""
    subject, ground = pin.subject, pin.ground
    if pin.kind == Pin.Kind.CORPUS:
        yield subject["of"].capitalize(), str(subject["name"])
        rest = {name: found for name, found in ground.items() if name not in ("code", "runs")}
        yield from ((name.capitalize(), str(found)) for name, found in rest.items())
        yield "Texts and lists read", f"at most {subject['sampled']:,}, evenly"
        yield from ((name.capitalize(), str(found)) for name, found in ground["code"].items())
        return
    if pin.kind == Pin.Kind.LEADERBOARD:
        yield "Benchmark", f"{subject['benchmark']}, sha256 {ground['benchmark']}"
        yield "Last event", str(ground["event"])
        yield "Searched", str(subject["pool"])
        most = subject["most"] or "any number"
        yield "Queries with matches", f"{subject['fewest']} to {most}"
    else:
        yield "Study", str(subject["study"])
        yield "Plan", f"sha256 {ground['plan']}" if ground["plan"] else "not frozen yet"
        last = ground["last"]
        yield "Last rating, label, decision", f"{last['rating']}, {last['label']}, {last['adjudication']}"
        yield "History until", str(last["at"])
    yield "Draws", f"{subject['resamples']:,}, seed {subject['seed']}"
    yield from ((name.capitalize(), str(found)) for name, found in ground["code"].items())


def board_tables(pin: Pin) -> list[TableView]:
    """Systems by metrics, then the differences of neighbours."""
    figures, apart = pin.value["figures"], pin.value["differences"]
    metrics = list(dict.fromkeys(name for of_run in figures.values() for name in of_run))
    rows: list[list[Cell]] = [
        [(name, ""), *(figure_cell(of_run.get(metric)) for metric in metrics)]
        for name, of_run in figures.items()
    ]
    differences: list[list[Cell]] = [
        [(one["better"], ""), (one["other"], ""), figure_cell(one), (number(one["p"]), "")] for one in apart
    ]
    made = [table("systems", "Systems", ["System", *metrics], rows)]
    if differences:
        columns = ["System", "The next one", f"Difference in {pin.subject['metric']}", "p after Holm"]
        made.append(table("differences", "Differences", columns, differences))
    return made


def study_tables(pin: Pin) -> list[TableView]:
    return [
        table(key, one["title"], one["columns"], [[plain(cell) for cell in row] for row in one["rows"]])
        for key, one in pin.value.items()
    ]


def table(key: str, title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> TableView:
    shown = [
        [CellView(column, *cell) for column, cell in zip(columns, row, strict=False)]
        for row in rows[:MOST_ROWS]
    ]
    return TableView(key, title, columns, shown, len(rows) - len(shown))


def plain(cell: Any) -> Cell:
    """A cell of a study's table: a word, a number, or a figure with its ends."""
    if isinstance(cell, Mapping):
        return figure_cell(cell)
    if cell is None or isinstance(cell, str):
        return cell or "–", ""
    return number(cell), ""


def figure_cell(figure: Mapping[str, Any] | None) -> Cell:
    """A value with its interval, whichever of the two shapes it has; "–" where it is undefined."""
    if figure is None or figure["value"] is None:
        return "–", str((figure or {}).get("words") or "")
    ends = figure.get("interval") or figure
    low, high = ends.get("low"), ends.get("high")
    return number(figure["value"]), "" if low is None or high is None else f"{number(low)} to {number(high)}"


def author(user: Visitor) -> User | None:
    return user if isinstance(user, User) else None
