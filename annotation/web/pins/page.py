"""What the pages of pins show: the list, and one pin's figures with what they rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.urls import reverse

from annotation.accounts.roles import Role, Visitor, benchmarks_visible_to, builds_visible_to, has_role
from annotation.models import Build, Study
from annotation.pins.pin_record import benchmark_with
from annotation.studies.report.figures import NoFigures, refuse_to_raters
from annotation.studies.report.formats import format_value
from annotation.web.benchmarks.leaderboard_notes import as_counted
from annotation.web.pins.used_models import models_of
from annotation.web.shared.words import small_dollars
from retrieval.evaluation.citation import cite_pin
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
Row = Sequence[Any]
"""Of a table: words, numbers, figures with their ends, and cells that are ready."""


def filter_visible_pins(user: Visitor, pins: Iterable[Pin]) -> list[Pin]:
    """Those whose benchmark's or study's figures are open to the person."""
    rows = list(pins)
    digests = {pin.ground[of] for pin in rows for of in BENCHMARKS if of in pin.ground}
    open_ones = set(benchmarks_visible_to(user).filter(digest__in=digests).values_list("digest", flat=True))
    studies = Study.objects.in_bulk({study for pin in rows if (study := study_of_pin(pin)) is not None})
    ids = {pin.subject["id"] for pin in rows if pin.subject.get("of") == "build"}
    builds = builds_visible_to(user).filter(pk__in=ids) if ids else Build.objects.none()
    shown = {
        "study": {pk for pk, study in studies.items() if is_open(user, study)},
        "build": set(builds.values_list("pk", flat=True)),
    }
    return [pin for pin in rows if _may_see(user, pin, open_ones, shown)]


def _may_see(user: Visitor, pin: Pin, benchmarks: set[str], shown: Mapping[str, set[int]]) -> bool:
    """As on the page of what was pinned: those of builds and collections are for admins."""
    if (study := study_of_pin(pin)) is not None and study not in shown["study"]:
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
        return Build.objects.filter(pk__in=[build["id"] for build in pin.subject["builds"]])
    mined = Q(mining=pin.subject["id"]) | Q(extensions__mining=pin.subject["id"])
    return Build.objects.filter(mined).distinct()


def study_of_pin(pin: Pin) -> int | None:
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


def find_revealing_queries(pin: Pin) -> list[int]:
    """The queries (ids) whose counts in it tell each label: all pairs moved one way between two builds."""
    if pin.kind != Pin.Kind.TWO_BUILDS:
        return []
    worst = pin.value.get("worst queries", {})
    return [int(query) for query, (*moved, judged) in worst.items() if judged in moved]


def pins_page(user: Visitor) -> list[Pin]:
    """The newest pins that the person may see."""
    return filter_visible_pins(user, Pin.objects.select_related("created_by").defer("value")[:MOST_PINS])


def pin_page(pin: Pin) -> dict[str, Any]:
    """`of` is the page of what was pinned; `facts` say what it rests on, `models` made its lists."""
    return {
        "pin": pin,
        "of": find_pinned_page_url(pin),
        "facts": list(list_pin_facts(pin)),
        "tables": list(TABLES.get(pin.kind, study_tables)(pin)),
        "models": models_of(pin),
        "bibtex": cite_pin(pin),
    }


def find_pinned_page_url(pin: Pin) -> str:
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
        first, second = (build["id"] for build in pin.subject["builds"])
        return f"{reverse('compare')}?{urlencode({'first': first, 'second': second})}"
    if pin.kind == Pin.Kind.MINING:
        build = builds_of(pin).order_by("pk").first()
        return reverse("build", args=[build.pk]) if build else reverse("reports")
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


def list_pin_facts(pin: Pin) -> Iterable[tuple[str, str]]:
    """What decided the figures, in the order in which people ask."""
    yield from FACTS.get(pin.kind, facts_of_study)(pin.subject, pin.ground)
    if "noise" in pin.subject:
        yield "Share of wrong labels", str(pin.subject["noise"]["source"])
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
    yield from ((name.capitalize(), format_pin_fact(found)) for name, found in rest.items() if name != "id")


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


def board_tables(pin: Pin) -> Iterable[dict[str, Any]]:
    """Systems by metrics, then the differences of neighbours."""
    figures, apart = pin.value["figures"], pin.value["differences"]
    metrics = list(dict.fromkeys(name for of_run in figures.values() for name in of_run))
    rows = [[name, *(of_run.get(metric) for metric in metrics)] for name, of_run in figures.items()]
    yield build_pin_table("systems", "Systems", ["System", *metrics], rows)
    if apart:
        columns = ["System", "The next one", f"Difference in {pin.subject['metric']}", "p after Holm"]
        differences = [[pair["better"], pair["other"], pair, pair["p"]] for pair in apart]
        yield build_pin_table("differences", "Differences", columns, differences)
    if pin.value.get("noise"):
        yield noise_table(pin.subject["noise"], pin.value["noise"])
    if without := pin.value.get("without"):
        yield without_table(without)


def noise_table(asked: Told, noise: Told) -> dict[str, Any]:
    """What label errors do to the order."""
    columns = ["System", "Stays above the next one, share of draws", "Rank in 95 % of the draws"]
    title = (
        f"With {100 * asked['matches']:.1f} % of the matches and {100 * asked['others']:.1f} % of the "
        f"other labels flipped, {asked['draws']:,} draws, seed {asked['seed']}"
        f"{as_counted(asked.get('matches_of', 0), asked.get('others_of', 0))}"
    )
    rows = [
        [name, noise["above"].get(name), f"{low} to {high}" if low < high else f"{low}"]
        for name, (low, high) in noise["ranks"].items()
    ]
    return build_pin_table("noise", title, columns, rows)


def without_table(without: Mapping[str, Told]) -> dict[str, Any]:
    """What a mining without one of its encoders does: ranks, and means below them."""
    rows = [
        [
            name,
            *(
                (convert_cell(left["ranks"][name])[0], convert_cell(left["values"][name])[0])
                for left in without.values()
            ),
        ]
        for name in next(iter(without.values()))["ranks"]
    ]
    columns = ["System", *(f"Without {encoder}" for encoder in without)]
    return build_pin_table("without", "Ranks and means without one encoder in the mining", columns, rows)


def comparison_tables(pin: Pin) -> Iterable[dict[str, Any]]:
    """Changes of labels, queries that count, then systems with their means under both."""
    labels, queries, systems = (pin.value[key] for key in ("labels", "queries", "systems"))
    yield build_pin_table("labels", "Labels", ["Change", "Pairs"], list(labels.items()))
    title = "Queries with a match"
    yield build_pin_table("queries", title, ["In the version", "Queries"], list(queries.items()))
    if systems:
        title = (
            f"Systems by {pin.subject['metric']}; Kendall’s tau {convert_cell(pin.value['kendall_tau'])[0]}"
        )
        rows = [
            [
                (name, "" if system["same_lists"] else "each version’s own lists"),
                system["first"],
                system["second"],
                {"value": system["difference"], "interval": system["interval"]},
            ]
            for name, system in systems.items()
        ]
        yield build_pin_table("systems", title, ["System", "Before", "After", "Difference"], rows)


def build_tables(pin: Pin) -> Iterable[dict[str, Any]]:
    """The funnel in counts, then what is cited of it."""
    counts, figures = dict(pin.value["counts"]), dict(pin.value["figures"])
    figures["spent"] = small_dollars(counts.pop("spent"))
    if figures.get(COST) is not None:
        figures[COST] = small_dollars(figures[COST])
    yield build_pin_table("counts", "Funnel", ["What", "Count"], list(counts.items()))
    yield build_pin_table("figures", "Figures", ["What", "Value"], list(figures.items()))


def tree_tables(pin: Pin) -> Iterable[dict[str, Any]]:
    """One table a part of the value, with a row for each figure in it."""
    parts = {key: part for key, part in pin.value.items() if isinstance(part, Mapping | list)}
    single = {key: part for key, part in pin.value.items() if key not in parts}
    found = {**({"figures": single} if single else {}), **parts}
    for place, (key, part) in enumerate(found.items()):
        rows = list(flatten_pinned_figures(part))
        yield build_pin_table(f"part-{place}", key.capitalize(), ["What", "Value"], rows)


def flatten_pinned_figures(part: Any, where: str = "") -> Iterable[Row]:
    """Every figure of a part with the way to it."""
    if not isinstance(part, Mapping | list):
        yield (where, ""), part
        return
    for key, inner in part.items() if isinstance(part, Mapping) else enumerate(part, 1):
        yield from flatten_pinned_figures(inner, f"{where}, {key}".removeprefix(", "))


def format_pin_fact(found: Any) -> str:
    """A fact on one line."""
    if isinstance(found, Mapping):
        return ", ".join(f"{name}: {format_pin_fact(inner)}" for name, inner in found.items())
    return ", ".join(map(format_pin_fact, found)) if isinstance(found, list) else str(found)


def study_tables(pin: Pin) -> Iterable[dict[str, Any]]:
    for key, table in pin.value.items():
        yield build_pin_table(key, table["title"], table["columns"], table["rows"])


TABLES: Final[Mapping[str, Callable[[Pin], Iterable[dict[str, Any]]]]] = {
    Pin.Kind.LEADERBOARD: board_tables,
    Pin.Kind.COMPARISON: comparison_tables,
    Pin.Kind.BUILD: build_tables,
    **dict.fromkeys(OF_BUILDS, tree_tables),
}


def build_pin_table(key: str, title: str, columns: Sequence[str], rows: Sequence[Row]) -> dict[str, Any]:
    """Figures as they were pinned, each with its column; `cut` rows more are in the download."""
    shown = [
        [(column, *convert_cell(cell)) for column, cell in zip(columns, row, strict=False)]
        for row in rows[:MOST_ROWS]
    ]
    return {"key": key, "title": title, "columns": columns, "rows": shown, "cut": len(rows) - len(shown)}


def convert_cell(cell: Any) -> Cell:
    """What is printed of a word, a number, or a figure with its ends, whichever of the two shapes it has.

    "–" stands where it is undefined.
    """
    if isinstance(cell, tuple):
        return cell
    if isinstance(cell, str):
        return cell or "–", ""
    if not isinstance(cell, Mapping):
        return "–" if cell is None else format_value(cell), ""
    if cell["value"] is None:
        return "–", str(cell.get("words") or "")
    ends = cell.get("interval") or cell
    low, high = ends.get("low"), ends.get("high")
    if low is None or high is None:
        return format_value(cell["value"]), ""
    return format_value(cell["value"]), f"{format_value(low)} to {format_value(high)}"
