"""The figures of a study: look at them, follow a number to its pairs, take them home."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.accounts.roles import GET, POST, Role, has_role, require_role
from annotation.models import Study
from annotation.studies.adjudication import sealed_scores
from annotation.studies.exposure import mark_seen, pairs_of_study_rows
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.report.agreement_report import NoReport, report_of, report_tables
from annotation.studies.report.downloads import FORMATS
from annotation.studies.report.figure_data import find_unscored_versions
from annotation.studies.report.figures import NoFigures, figures_of, refuse_to_raters
from annotation.studies.report.table import Table
from annotation.studies.report.tables import CELLS, build_study_tables
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import attach, say_refusals
from annotation.web.studies.figures import figures_page, pairs_page, report_page

View = Callable[[HttpRequest, Study], HttpResponse]


class NoSuchFigures(NoFigures):
    """The address names a table, format or cell that is not there."""


def with_open_figures(view: View) -> Callable[[HttpRequest, int], HttpResponse]:
    """A view of a study whose figures are open to who asks; a page of its own says what there is not."""

    @wraps(view)
    def opened(request: HttpRequest, pk: int) -> HttpResponse:
        study = get_object_or_404(Study, pk=pk)
        try:
            refuse_to_raters(request.user, study)
            return view(request, study)
        except (NoFigures, NoReport) as why:
            context = {"study": study, "why": str(why)}
            status = 404 if isinstance(why, NoSuchFigures) else 200
            return render(request, "annotation/studies/no_figures.html", context, status=status)

    return opened


@require_role(Role.READER, GET)
@with_open_figures
def figures(request: HttpRequest, study: Study) -> HttpResponse:
    """All tables, or why there are none."""
    imported = study.kind == Study.Kind.IMPORTED
    page = report_page(study, report_of(study)) if imported else figures_page(figures_of(study))
    context = {"page": page, "may_score": has_role(request.user, Role.ADMIN)}
    return render(request, "annotation/studies/figures.html", context)


@require_role(Role.ADMIN, POST)
@with_open_figures
def score(request: HttpRequest, study: Study) -> HttpResponse:
    """Take the ticked versions (`version`, their ids) into the figures of a sealed study, for ever."""
    assert isinstance(request.user, User), "a role comes before the view"
    wanted = {whole_number(pk) for pk in request.POST.getlist("version")}
    chosen = [version for version in find_unscored_versions(study) if version.pk in wanted]
    with say_refusals(request, StudyRefused):
        made = len(sealed_scores.score_sealed_versions(study, chosen, request.user))
        scored = f"{made} of the annotator versions scored: that stays with the study."
        level = messages.SUCCESS if made else messages.INFO
        messages.add_message(
            request, level, scored if made else "No version was ticked that is not scored yet."
        )
    return redirect("study-figures", pk=study.pk)


@require_role(Role.READER, GET)
@with_open_figures
def download(request: HttpRequest, study: Study) -> HttpResponse:
    """One table, `?table=` of the page, as `?format=` csv, json, tex or svg."""
    wanted = request.GET.get("format", "")
    made = {table.key: table for table in tables_of(study)}
    table = made.get(request.GET.get("table", ""))
    if table is None or wanted not in FORMATS:
        tables, formats = ", ".join(made), ", ".join(FORMATS)
        raise NoSuchFigures(f"There is no such table or format. Formats are {formats}; tables are {tables}.")
    write, kind = FORMATS[wanted]
    written = write(table)
    if not written:
        raise NoSuchFigures(
            f"“{table.title}” has nothing that could be drawn: take it as CSV, JSON or LaTeX."
        )
    return attach(HttpResponse(written, content_type=kind), f"study-{study.pk}-{table.key}.{wanted}")


def tables_of(study: Study) -> tuple[Table, ...]:
    """Those of the page. Raises NoFigures, or NoReport for labels from elsewhere."""
    if study.kind == Study.Kind.IMPORTED:
        return report_tables(report_of(study))
    return build_study_tables(figures_of(study))


@require_role(Role.READER, GET)
@with_open_figures
def pairs(request: HttpRequest, study: Study) -> HttpResponse:
    """The pairs of `?row=` in `?cell=` (0 to 3) of its confusion matrix."""
    cell = whole_number(request.GET.get("cell", ""))
    if cell >= len(CELLS):
        raise NoSuchFigures("A confusion matrix has four cells, 0 to 3.")
    page = pairs_page(study, request.GET.get("row", ""), cell)
    mark_seen(request.user, pairs_of_study_rows(study.pairs.all()))  # of the others it is told: another cell
    return render(request, "annotation/studies/pairs.html", {"page": page})
