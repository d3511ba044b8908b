"""The three figures that a study is made for, each in one plain sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.stats.agreement.differences import AnnotatorComparison
from annotation.stats.agreement.figures import Figure
from annotation.stats.agreement.page import CONSTANTS, Page
from annotation.stats.agreement.reliability import Level
from annotation.stats.agreement.scores import Scores
from annotation.studies.report.agreement_report import Report
from annotation.studies.report.figures import Figures
from annotation.studies.report.formats import format_value
from annotation.web.shared.words import format_interval
from retrieval.texts.plurals import count_noun


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure; `interval` is empty where it has none, `said` explains it in a sentence."""

    title: str
    value: str
    interval: str
    said: str


def build_study_tiles(found: Figures) -> list[Tile]:
    """Agents' accuracy, raters' alpha and the difference; of a pairwise study how often each side wins."""
    if found.page is not None:
        return list(_tiles_of_page(found.page))
    if found.preference is None:
        return []
    said = f"Share of {count_noun(found.preference.choices, 'choice')} for the first side; a tie counts ½."
    return [_tile("First side wins", found.preference.halved, said)]


def build_report_tiles(found: Report) -> list[Tile]:
    """Alpha of labels from elsewhere."""
    alpha = found.figures.get("alpha_nominal")
    items = count_noun(found.items_with_two, "item")
    return [_tile("Raters’ alpha", alpha, f"Krippendorff’s alpha on {items}. {SCALE}")] if alpha else []


SCALE = "1 is full agreement, 0 is what chance gives."


def _tiles_of_page(page: Page) -> Iterator[Tile]:
    agents = find_agents_row(page)
    if agents is not None:
        said = (
            f"Share of {count_noun(agents.n, 'pair')} on which {agents.name} and the raters’ majority agree."
        )
        yield _tile("Agents’ accuracy", agents.accuracy, said)
    for one in page.reliability:
        if one.name == page.reference:
            raters = count_noun(one.raters, "rater")
            alpha = one.alpha[Level.NOMINAL]
            yield _tile("Raters’ alpha", alpha, f"Krippendorff’s alpha of {raters}. {SCALE}")
    for compared in page.comparisons:
        if agents is not None and (compared.first, compared.second) == (agents.name, page.reference):
            said = describe_difference(compared)
            yield _tile("Agents minus raters", compared.difference, f"Difference in accuracy. {said}")


def find_agents_row(page: Page) -> Scores | None:
    """The row of the build's annotator, else of the first annotator that is nobody's condition."""
    people = {one.name for one in page.reliability}
    rows = [row for row in page.table if row.name not in people and row.name not in CONSTANTS]
    built_by = page.build.annotator if page.build else ""
    return next((row for row in rows if row.name == built_by), rows[0] if rows else None)


def describe_difference(compared: AnnotatorComparison) -> str:
    """What its interval allows to say."""
    low, high = compared.difference.low, compared.difference.high
    if low is None or high is None:
        return "It has no interval, so nothing more can be said."
    if low > 0:
        return "The agents are more accurate."
    if high < 0:
        return "The raters are more accurate."
    return "The interval includes 0: neither is shown to be better."


def _tile(title: str, figure: Figure, said: str) -> Tile:
    if figure.value is None:
        return Tile(title, "–", "", figure.words or said)
    return Tile(title, format_value(figure.value), format_interval(figure, format_value), said)
