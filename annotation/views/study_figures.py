"""The figures of a study: look at them, follow a number to its pairs, take them home."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.access import Role, has_role, needs
from annotation.models import Study
from annotation.pages import study_figures as pages
from annotation.pages.paging import whole_number
from annotation.seen import mark_seen, sides
from annotation.studies import scoring
from annotation.studies.downloads import FORMATS
from annotation.studies.figures import NoFigures, figures_of, refuse_to_raters
from annotation.studies.gathering import unscored
from annotation.studies.planning import StudyRefused
from annotation.studies.report_tables import report_of, report_tables
from annotation.studies.reporting import NoReport
from annotation.studies.table import Table
from annotation.studies.tables import CELLS, tables


@require_safe
@needs(Role.READER)
def figures(request: HttpRequest, pk: int) -> HttpResponse:
    """All tables, or why there are none."""
    study = get_object_or_404(Study, pk=pk)
    try:
        refuse_to_raters(request.user, study)
        page = (
            pages.report_page(study, report_of(study))
            if study.kind == Study.Kind.IMPORTED
            else pages.figures_page(figures_of(study))
        )
    except (NoFigures, NoReport) as why:
        return nothing(request, study, why)
    context = {"page": page, "may_score": has_role(request.user, Role.ADMIN)}
    return render(request, "annotation/study_figures.html", context)


@require_POST
@needs(Role.ADMIN)
def score(request: HttpRequest, pk: int) -> HttpResponse:
    """Take the ticked versions (`version`, their ids) into the figures of a sealed study, for ever."""
    study = get_object_or_404(Study, pk=pk)
    assert isinstance(request.user, User), "a role comes before the view"
    wanted = {whole_number(one) for one in request.POST.getlist("version")}
    try:
        refuse_to_raters(request.user, study)
        chosen = [one for one in unscored(study) if one.pk in wanted]
        made = scoring.score(study, chosen, request.user)
    except NoFigures as why:
        return nothing(request, study, why)
    except StudyRefused as why:
        messages.error(request, str(why))
    else:
        tell(request, len(made))
    return redirect("study-figures", pk=study.pk)


def tell(request: HttpRequest, made: int) -> None:
    if made:
        messages.success(request, f"{made} of the annotator versions scored: that stays with the study.")
    else:
        messages.info(request, "No version was ticked that is not scored yet.")


@require_safe
@needs(Role.READER)
def download(request: HttpRequest, pk: int) -> HttpResponse:
    """One table, `?table=` of the page, as `?format=` csv, json, tex or svg."""
    study = get_object_or_404(Study, pk=pk)
    wanted = request.GET.get("format", "")
    try:
        refuse_to_raters(request.user, study)
        made = {table.key: table for table in tables_of(study)}
    except (NoFigures, NoReport) as why:
        return nothing(request, study, why)
    table = made.get(request.GET.get("table", ""))
    if table is None or wanted not in FORMATS:
        return nothing(request, study, NoFigures(none_such(made)), status=404)
    write, kind = FORMATS[wanted]
    written = write(table)
    if not written:
        said = f"“{table.title}” has nothing that could be drawn: take it as CSV, JSON or LaTeX."
        return nothing(request, study, NoFigures(said), status=404)
    response = HttpResponse(written, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="study-{study.pk}-{table.key}.{wanted}"'
    return response


def none_such(made: Iterable[str]) -> str:
    tables = f"tables are {', '.join(made)}"
    return f"There is no such table or format. Formats are {', '.join(FORMATS)}; {tables}."


def tables_of(study: Study) -> tuple[Table, ...]:
    """Those of the page. Raises NoFigures, or NoReport for labels from elsewhere."""
    if study.kind == Study.Kind.IMPORTED:
        return report_tables(report_of(study))
    return tables(figures_of(study))


@require_safe
@needs(Role.READER)
def pairs(request: HttpRequest, pk: int) -> HttpResponse:
    """The pairs of `?row=` in `?cell=` (0 to 3) of its confusion matrix."""
    study = get_object_or_404(Study, pk=pk)
    cell = whole_number(request.GET.get("cell", ""))
    if cell >= len(CELLS):
        return nothing(request, study, NoFigures("A confusion matrix has four cells, 0 to 3."), status=404)
    try:
        refuse_to_raters(request.user, study)
        page = pages.pairs_page(study, request.GET.get("row", ""), cell)
    except NoFigures as why:
        return nothing(request, study, why)
    mark_seen(request.user, sides(study.pairs.filter(number__in=page.pairs)))
    return render(request, "annotation/study_pairs.html", {"page": page})


def nothing(request: HttpRequest, study: Study, why: Exception, status: int = 200) -> HttpResponse:
    context = {"study": study, "why": str(why)}
    return render(request, "annotation/study_no_figures.html", context, status=status)
