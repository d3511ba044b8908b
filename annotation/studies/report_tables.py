"""What `agreement report` says of labels from elsewhere, as tables for the page and for downloads."""

from __future__ import annotations

from typing import Final

from django.core.cache import cache

from annotation.models import Study
from annotation.studies.reporting import Report, report
from annotation.studies.table import Table

KEPT_SECONDS: Final = 3600
WORDS: Final = {
    "alpha_nominal": "Krippendorff’s alpha, nominal",
    "alpha_ordinal": "Krippendorff’s alpha, ordinal",
    "alpha_interval": "Krippendorff’s alpha, interval",
    "kappa_quadratic": "Cohen’s kappa, quadratic",
    "kappa_quadratic_symmetrised": "Cohen’s kappa, quadratic, both orders",
    "percent_agreement": "Two labels of an item are alike",
}


def report_of(study: Study) -> Report:
    """The report of imported labels, which never change: computed once an hour. Raises NoReport."""
    key = f"study-report-{study.pk}"
    kept = cache.get(key)
    if isinstance(kept, Report):
        return kept
    made = report(study)
    cache.set(key, made, KEPT_SECONDS)
    return made


def report_tables(found: Report) -> tuple[Table, ...]:
    """Agreement with its intervals, then what it rests on."""
    figures = tuple((WORDS.get(name, name), one) for name, one in found.figures.items())
    counts = (
        ("items", found.items),
        ("items with two labels or more", found.items_with_two),
        ("queries of those", found.queries),
        ("labels", found.labels),
        ("raters", found.raters if found.raters is not None else "not named in the file"),
    )
    return (
        Table("agreement", "Agreement", ("Figure", "Value"), figures, " ".join(found.notes), "Value"),
        Table("counts", "What the file holds", ("What", "How many"), counts),
    )
