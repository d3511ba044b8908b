"""What the pages of pins show: the list, and one pin's figures with what they rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.urls import reverse

from annotation.access import Role, Visitor, benchmarks_visible_to, builds_visible_to, has_role
from annotation.models import Build, Study
from annotation.pages.board import as_counted
from annotation.pages.pin_models import Models, models_of
from annotation.pages.words import small_dollars
from annotation.pinning.grounds import benchmark_with
from annotation.studies.figures import NoFigures, refuse_to_raters
from annotation.studies.formats import number
from retrieval.models import Pin

MOST_PINS: Final = 200
MOST_ROWS: Final = 500
COST: Final = "cost of a pair"
BENCHMARKS: Final = ("benchmark", "before")
"""The grounds that name a benchmark by its hash."""


OF_BUILDS: Final = frozenset({Pin.Kind.MINING.value, Pin.Kind.TWO_BUILDS.value})

Told = Mapping[str, Any]
"""What a pin is of, or what it rests on, by name."""
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
    """`of` is the page of what was pinned; `facts` say what it rests on, `models` made its lists."""

    pin: Pin
    of: str
    facts: Sequence[tuple[str, str]]
    tables: Sequence[TableView]
    models: Models


def visible(user: Visitor, pins: Iterable[Pin]) -> list[Pin]:
    """Those whose benchmark's or study's figures are open to the person."""
    rows = list(pins)
    digests = {pin.ground[of] for pin in rows for of in BENCHMARKS if of in pin.ground}
    open_ones = set(benchmarks_visible_to(user).filter(digest__in=digests).values_list("digest", flat=True))
    studies = Study.objects.in_bulk({study for pin in rows if (study := study_of(pin)) is not None})
    ids = {pin.subject["id"] for pin in rows if pin.subject.get("of") == "build"}
    builds = builds_visible_to(user).filter(pk__in=ids) if ids else Build.objects.none()
    shown = {
        "study": {pk for pk, study in studies.items() if is_open(user, study)},
        "build": set(builds.values_list("pk", flat=True)),
    }
    return [pin for pin in rows if _may_see(user, pin, open_ones, shown)]


def _may_see(user: Visitor, pin: Pin, benchmarks: set[str], shown: Mapping[str, set[int]]) -> bool:
    """As on the page of what was pinned: those of builds and collections are for admins."""
    if (study := study_of(pin)) is not None and study not in shown["study"]:
        return False
    if pin.kind == Pin.Kind.BUILD and not has_role(user, Role.ADMIN):
        return False
    if pin.kind in OF_BUILDS:
        allowed = pin.kind != Pin.Kind.MINING or has_role(user, Role.ADMIN)
        return allowed and not builds_of(pin).exclude(pk__in=builds_visible_to(user).values("pk")).exists()
    if "benchmark" in pin.ground:
        return all(pin.ground[of] in benchmarks for of in BENCHMARKS if of in pin.ground)
    kind = pin.subject.get("of", "study")
    return has_role(user, Role.ADMIN) if kind == "collection" else pin.subject["id"] in shown[kind]


def builds_of(pin: Pin) -> QuerySet[Build]:
    """Those whose candidates or cases were counted."""
    if pin.kind == Pin.Kind.TWO_BUILDS:
        return Build.objects.filter(pk__in=[one["id"] for one in pin.subject["builds"]])
    mined = Q(mining=pin.subject["id"]) | Q(extensions__mining=pin.subject["id"])
    return Build.objects.filter(mined).distinct()


def study_of(pin: Pin) -> int | None:
    """The study whose figures it has: its own, or the shares of wrong labels that it took from one."""
    if pin.kind == Pin.Kind.STUDY:
        return int(pin.subject["id"])
    study: int | None = pin.subject.get("noise", {}).get("study")
    return study


def is_open(user: Visitor, study: Study) -> bool:
    try:
        refuse_to_raters(user, study)
    except NoFigures:
        return False
    return True


def told(pin: Pin) -> list[int]:
    """The queries (ids) whose counts in it tell each label: all pairs moved one way between two builds."""
    if pin.kind != Pin.Kind.TWO_BUILDS:
        return []
    worst = pin.value.get("worst queries", {})
    return [int(query) for query, (*moved, judged) in worst.items() if judged in moved]


def pins_page(user: Visitor) -> list[Pin]:
    """The newest pins that the person may see."""
    return visible(user, Pin.objects.select_related("created_by").defer("value")[:MOST_PINS])


def pin_page(pin: Pin) -> PinPage:
    tables = {
        Pin.Kind.LEADERBOARD: board_tables,
        Pin.Kind.COMPARISON: comparison_tables,
        Pin.Kind.BUILD: build_tables,
        Pin.Kind.MINING: tree_tables,
        Pin.Kind.TWO_BUILDS: tree_tables,
    }
    made = tables.get(Pin.Kind(pin.kind), study_tables)(pin)
    return PinPage(pin, address(pin), list(facts(pin)), made, models_of(pin))


def address(pin: Pin) -> str:
    """The page of what was pinned, as it is now."""
    if pin.kind == Pin.Kind.STUDY:
        return reverse("study-figures", args=[pin.subject["id"]])
    if pin.kind == Pin.Kind.CORPUS and pin.subject["of"] != "benchmark":
        return reverse(f"{pin.subject['of']}-corpus", args=[pin.subject["id"]])
    if pin.kind == Pin.Kind.BUILD:
        return reverse("build", args=[pin.subject["id"]])
    if pin.kind == Pin.Kind.COMPARISON:
        return compared_at(pin)
    if pin.kind == Pin.Kind.TWO_BUILDS:
        first, second = (one["id"] for one in pin.subject["builds"])
        return f"{reverse('compare')}?{urlencode({'first': first, 'second': second})}"
    if pin.kind == Pin.Kind.MINING:
        build = builds_of(pin).order_by("pk").first()
        return reverse("build", args=[build.pk]) if build else reverse("pins")
    page, name = ("benchmark-corpus", "name") if pin.kind == Pin.Kind.CORPUS else ("benchmark", "benchmark")
    same = benchmark_with(pin.ground["benchmark"], pin.subject[name])
    return reverse(page, args=[same.pk]) if same else reverse("benchmarks")


def compared_at(pin: Pin) -> str:
    """The page that compares the two, with the choices of the pin."""
    first = benchmark_with(pin.ground["before"], pin.subject["first"])
    second = benchmark_with(pin.ground["benchmark"], pin.subject["second"])
    if first is None or second is None:
        return reverse("benchmarks")
    asked = urlencode({"with": first.pk, "metric": pin.subject["metric"]})
    return f"{reverse('benchmark-compare', args=[second.pk])}?{asked}"


def facts(pin: Pin) -> Iterable[tuple[str, str]]:
    """What decided the figures, in the order in which people ask."""
    yield from FACTS.get(pin.kind, facts_of_study)(pin.subject, pin.ground)
    if "noise" in pin.subject:
        yield "Labels that are wrong", str(pin.subject["noise"]["source"])
    if pin.kind not in UNDRAWN:
        yield "Draws", f"{pin.subject['resamples']:,}, seed {pin.subject['seed']}"
    yield from ((name.capitalize(), str(found)) for name, found in pin.ground["code"].items())


def facts_of_build(subject: Told, ground: Told) -> Iterable[tuple[str, str]]:
    yield "Build", f"{subject['name']}, {subject['rounds']} rounds"
    yield "Annotator", f"{ground['annotator']}, {ground['model']}"
    yield "Last event", str(ground["event"])
    last = ground["last"]
    yield "Last case, step, call", f"{last['case']}, {last['step']}, {last['call']}"


def facts_of_minings(subject: Told, ground: Told) -> Iterable[tuple[str, str]]:
    rest = {**subject, **{name: found for name, found in ground.items() if name != "code"}}
    yield from ((name.capitalize(), in_words(found)) for name, found in rest.items() if name != "id")


def facts_of_corpus(subject: Told, ground: Told) -> Iterable[tuple[str, str]]:
    yield subject["of"].capitalize(), str(subject["name"])
    rest = {name: found for name, found in ground.items() if name not in ("code", "runs")}
    yield from ((name.capitalize(), str(found)) for name, found in rest.items())
    yield "Texts and lists read", f"at most {subject['sampled']:,}, evenly"


def facts_of_comparison(subject: Told, ground: Told) -> Iterable[tuple[str, str]]:
    yield "Before", f"{subject['first']}, sha256 {ground['before']}"
    yield "After", f"{subject['second']}, sha256 {ground['benchmark']}"
    yield "Last event", str(ground["event"])
    yield "Searched", str(subject["pool"])


def facts_of_leaderboard(subject: Told, ground: Told) -> Iterable[tuple[str, str]]:
    yield "Benchmark", f"{subject['benchmark']}, sha256 {ground['benchmark']}"
    yield "Last event", str(ground["event"])
    yield "Searched", str(subject["pool"])
    yield "Queries with matches", f"{subject['fewest']} to {subject['most'] or 'any number'}"


def facts_of_study(subject: Told, ground: Told) -> Iterable[tuple[str, str]]:
    yield "Study", str(subject["study"])
    yield "Plan", f"sha256 {ground['plan']}" if ground["plan"] else "not frozen yet"
    last = ground["last"]
    yield "Last rating, label, decision", f"{last['rating']}, {last['label']}, {last['adjudication']}"
    yield "History until", str(last["at"])


UNDRAWN: Final = {Pin.Kind.BUILD, Pin.Kind.CORPUS, *OF_BUILDS}
FACTS: Final[Mapping[str, Callable[[Told, Told], Iterable[tuple[str, str]]]]] = {
    Pin.Kind.BUILD: facts_of_build,
    **dict.fromkeys(OF_BUILDS, facts_of_minings),
    Pin.Kind.CORPUS: facts_of_corpus,
    Pin.Kind.COMPARISON: facts_of_comparison,
    Pin.Kind.LEADERBOARD: facts_of_leaderboard,
}


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
    return [*made, *sureness_tables(pin)]


def sureness_tables(pin: Pin) -> Iterable[TableView]:
    """What label errors do to the order, and what a mining without one of its encoders does."""
    noise, without = pin.value.get("noise"), pin.value.get("without")
    if noise:
        asked = pin.subject["noise"]
        rows: list[list[Cell]] = [
            [
                (name, ""),
                plain(noise["above"].get(name)),
                (f"{low} to {high}" if low < high else f"{low}", ""),
            ]
            for name, (low, high) in noise["ranks"].items()
        ]
        columns = ["System", "Stays above the next one, share of draws", "Rank in 95 % of the draws"]
        title = (
            f"With {100 * asked['matches']:.1f} % of the matches and {100 * asked['others']:.1f} % of the "
            f"other labels flipped, {asked['draws']:,} draws, seed {asked['seed']}"
            f"{as_counted(asked.get('matches_of', 0), asked.get('others_of', 0))}"
        )
        yield table("noise", title, columns, rows)
    if without:
        names = list(next(iter(without.values()))["ranks"])
        left: list[list[Cell]] = [
            [
                (name, ""),
                *((plain(one["ranks"][name])[0], plain(one["values"][name])[0]) for one in without.values()),
            ]
            for name in names
        ]
        title = "Ranks and means had one encoder not helped to mine"
        yield table("without", title, ["System", *(f"Without {one}" for one in without)], left)


def comparison_tables(pin: Pin) -> list[TableView]:
    """Changes of labels, queries that count, then systems with their means under both."""
    labels, queries, systems = (pin.value[key] for key in ("labels", "queries", "systems"))
    changes: list[list[Cell]] = [[(said, ""), (number(pairs), "")] for said, pairs in labels.items()]
    matched: list[list[Cell]] = [[(of, ""), (number(found), "")] for of, found in queries.items()]
    rows: list[list[Cell]] = [
        [
            (name, "" if one["same_lists"] else "each version’s own lists"),
            plain(one["first"]),
            plain(one["second"]),
            figure_cell({"value": one["difference"], "interval": one["interval"]}),
        ]
        for name, one in systems.items()
    ]
    made = [
        table("labels", "Labels", ["Change", "Pairs"], changes),
        table("queries", "Queries with a match", ["In the version", "Queries"], matched),
    ]
    if rows:
        tau = plain(pin.value["kendall_tau"])[0]
        columns = ["System", "Before", "After", "Difference"]
        title = f"Systems by {pin.subject['metric']}; Kendall’s tau {tau}"
        made.append(table("systems", title, columns, rows))
    return made


def build_tables(pin: Pin) -> list[TableView]:
    """The funnel in counts, then what is cited of it."""
    counts = {name: found for name, found in pin.value["counts"].items() if name != "spent"}
    funnel: list[list[Cell]] = [[(name, ""), (number(found), "")] for name, found in counts.items()]
    figures: list[list[Cell]] = [
        [(name, ""), (small_dollars(found) if name == COST and found is not None else plain(found)[0], "")]
        for name, found in pin.value["figures"].items()
    ]
    spent: list[Cell] = [("spent", ""), (small_dollars(pin.value["counts"]["spent"]), "")]
    return [
        table("counts", "Funnel", ["What", "Count"], funnel),
        table("figures", "Figures", ["What", "Value"], [*figures, spent]),
    ]


def tree_tables(pin: Pin) -> list[TableView]:
    """One table a part of the value, with a row for each figure in it."""
    parts = {key: part for key, part in pin.value.items() if isinstance(part, Mapping | list)}
    single = {key: part for key, part in pin.value.items() if key not in parts}
    found = {**({"figures": single} if single else {}), **parts}
    return [
        table(f"part-{place}", key.capitalize(), ["What", "Value"], list(leaves(part)))
        for place, (key, part) in enumerate(found.items())
    ]


def leaves(part: Any, where: str = "") -> Iterable[list[Cell]]:
    """Every figure of a part with the way to it."""
    if isinstance(part, Mapping):
        for key, one in part.items():
            yield from leaves(one, f"{where}, {key}".removeprefix(", "))
    elif isinstance(part, list):
        for place, one in enumerate(part, 1):
            yield from leaves(one, f"{where}, {place}".removeprefix(", "))
    else:
        yield [(where, ""), plain(part)]


def in_words(found: Any) -> str:
    """A fact on one line."""
    if isinstance(found, Mapping):
        return ", ".join(f"{name}: {in_words(one)}" for name, one in found.items())
    return ", ".join(map(in_words, found)) if isinstance(found, list) else str(found)


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
