"""The audit log and the history of labels, by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django import forms
from django.contrib.auth.models import User
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import QueryDict
from django.urls import reverse

from annotation.models import AuditEvent, Build, Rating, Review, Study
from annotation.review.tags import filter_known_tags, tag_name
from annotation.studies.audit_log import Verb, find_audit_events
from annotation.studies.plan.form_checks import word_of
from annotation.studies.rating.earlier_revisions import may_stand_again
from annotation.web.rating.words import said_sign
from annotation.web.review.words import describe_lines
from annotation.web.shared.forms import set_queryset
from annotation.web.shared.pagination import Window, load_page_window, whole_number
from annotation.web.shared.words import UNSURE, label_sign
from retrieval.models import QueryText
from retrieval.texts.plurals import count_noun

PAGE_SIZE: Final = 50
MOST_EXPORTED: Final = 100_000
COLUMNS: Final = ("at", "user", "verb", "what", "study", "detail")
KINDS: Final = (("reviews", "assisted reviews"), ("ratings", "ratings of studies"))
WITHDRAWN: Final = "withdrawn"
DAY = forms.DateInput(attrs={"type": "date"})


class AuditFilter(forms.Form):
    """What of the log is shown."""

    who = forms.CharField(required=False, max_length=150, label="Who")
    verb = forms.ChoiceField(
        required=False, choices=[("", "anything"), *((verb.value, verb.value) for verb in Verb)], label="What"
    )
    study = forms.ModelChoiceField(Study.objects.none(), required=False, label="Study", empty_label="any")
    since = forms.DateField(required=False, widget=DAY, label="From")
    until = forms.DateField(required=False, widget=DAY, label="To")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        newest = Study.objects.order_by("-pk").values("pk")[:500]  # a field can't look a choice up in a slice
        set_queryset(self, "study", Study.objects.filter(pk__in=newest).order_by("-pk"))

    def rows(self) -> QuerySet[AuditEvent]:
        """What matches; nothing where the filter itself is wrong."""
        if not self.is_valid():
            return AuditEvent.objects.none()
        values = self.cleaned_data
        study = values["study"].pk if values["study"] else None
        return find_audit_events(
            values["who"].strip(), values["verb"], study, values["since"], values["until"]
        )


def export_cut(form: AuditFilter) -> int:
    """How many entries the export has where there are more than that; else 0."""
    return MOST_EXPORTED if form.rows()[MOST_EXPORTED : MOST_EXPORTED + 1].exists() else 0


def export_audit_rows(params: QueryDict) -> Iterator[dict[str, Any]]:
    """The rows of the filter for a file, the newest first, at most 100,000 and then a row that says so."""
    rows = AuditFilter(params).rows()[: MOST_EXPORTED + 1]
    for number, row in enumerate(rows.iterator(2000)):
        yield as_row(row) if number < MOST_EXPORTED else cut_before(row)


def as_row(row: AuditEvent) -> dict[str, Any]:
    return {
        "at": row.at.isoformat(),
        "user": row.user.get_username() if row.user else "",
        "verb": row.verb,
        "what": row.what,
        "study": row.study.name if row.study else "",
        "detail": row.detail,
    }


def cut_before(row: AuditEvent) -> dict[str, Any]:
    """The last row of a file that ends before this entry: an auditor must not take it for the whole log."""
    told = f"Cut after {MOST_EXPORTED:,} entries. The older ones: export with “To” {row.at:%Y-%m-%d}."
    return dict.fromkeys(COLUMNS, "") | {"what": told}


class HistoryFilter(forms.Form):
    """Whose labels, and of which pair."""

    of = forms.ChoiceField(required=False, choices=KINDS, label="Labels")
    query = forms.CharField(required=False, max_length=200, label="Query contains")
    who = forms.CharField(required=False, max_length=150, label="Who")
    pair = forms.CharField(required=False, max_length=18, label="Pair number")


def history_page(params: QueryDict, visible: QuerySet[Build], only: int | None = None) -> dict[str, Any]:
    """Every revision, the newest first; `only` is the id of the one person whose labels are shown.

    A row leads to its pair where that is in a build of `visible`.
    """
    form = HistoryFilter(params)
    chosen = form.cleaned_data if form.is_valid() else {}
    found: Window[Any]
    if chosen.get("of") == "ratings":
        found = load_page_window(rating_rows(chosen, only), ("-id",), params, PAGE_SIZE)
        rows = [rating_row(row, only) for row in found.rows]
    else:
        found = load_page_window(review_rows(chosen, only), ("-id",), params, PAGE_SIZE)
        shown = visible.filter(pk__in={row.case.build_id for row in found.rows}).values_list("pk", flat=True)
        rows = [review_row(row, only, set(shown)) for row in found.rows]
    return {"form": form, "rows": rows, "previous": found.previous, "next": found.next}


def list_told_pairs(user: User, page: Mapping[str, Any]) -> list[int]:
    """The pairs of which the page tells `user` what others said; a review tells of the agents, too."""
    rows = [row for row in page["rows"] if isinstance(row["row"], Review) or row["rater"] != user]
    return [pair for row in rows for pair in (row["pair"], row["other"]) if pair is not None]


def review_rows(chosen: Mapping[str, str], only: int | None) -> QuerySet[Review]:
    """The reviews that the filter leaves, each with the `newest` revision of its pair and rater."""
    same = Review.objects.filter(pair=OuterRef("pair"), rater=OuterRef("rater")).order_by("-revision")
    rows = Review.objects.select_related("rater", "case", "pair__query", "superseded_by")
    rows = rows.annotate(newest=Subquery(same.values("revision")[:1]))
    return rows.filter(build_history_condition(chosen, only, "rater", "pair"))


def rating_rows(chosen: Mapping[str, str], only: int | None) -> QuerySet[Rating]:
    """As `review_rows`, of ratings."""
    rows = Rating.objects.select_related(
        "assignment__enrolment__study",
        "assignment__condition",
        "assignment__rater",
        "assignment__study_pair__pair__query",
        "superseded_by",
    )
    same = Rating.objects.filter(assignment=OuterRef("assignment"), phase=OuterRef("phase"))
    rows = rows.annotate(newest=Subquery(same.order_by("-revision").values("revision")[:1]))
    condition = build_history_condition(chosen, only, "assignment__rater", "assignment__study_pair__pair")
    return rows.filter(condition)


def build_history_condition(chosen: Mapping[str, str], only: int | None, rater: str, pair: str) -> Q:
    """What the filter asks for; `rater` and `pair` are the ways from a row to both."""
    wanted = Q() if only is None else Q(**{rater: only})
    if who := chosen.get("who", "").strip():
        wanted &= Q(**{f"{rater}__username": who})
    if number := chosen.get("pair", ""):
        wanted &= Q(**{pair: whole_number(number)})
    if text := chosen.get("query", "").replace("\x00", "").strip():
        wanted &= Q(**{f"{pair}__query__in": QueryText.objects.containing(text).values("text")})
    return wanted


def review_row(row: Review, only: int | None, visible: set[int]) -> dict[str, Any]:
    """A review's revision; `restore_url` is there for one's own that can be restored.

    `visible` are the builds (ids) whose pairs may be opened.
    """
    stands = not hasattr(row, "superseded_by")
    said = UNSURE.word if row.label is None else label_sign(row.label).word
    may_restore = only and not stands and not row.withdrawn
    return {
        "row": row,
        "rater": row.rater,
        "where": "assisted",
        "pair": row.pair_id,
        "other": None,
        "query": row.pair.query.head,
        "url": reverse("review-case", args=[row.case_id]) if row.case.build_id in visible else "",
        "said": WITHDRAWN if row.withdrawn else said,
        "text": row.reason,
        "tags": (*filter(None, [describe_lines(row)]), *describe_label_context(row)),
        "stands": stands,
        "restore_url": reverse("history-restore", args=[row.pk]) if may_restore else "",
    }


def rating_row(row: Rating, only: int | None) -> dict[str, Any]:
    """As `review_row`, of a rating."""
    assignment = row.assignment
    sampled, study, stands = (
        assignment.study_pair,
        assignment.enrolment.study,
        not hasattr(row, "superseded_by"),
    )
    may_restore = only and not stands and may_stand_again(row)
    # Of two snippets the side: the number would tell which one stood there.
    said = said_sign(study.scale, word_of(assignment, row.value)).word
    return {
        "row": row,
        "rater": assignment.rater,
        "where": f"{study}, {row.get_phase_display()}",
        "pair": sampled.pair_id,
        "other": sampled.other_id,
        "query": sampled.pair.query.head,
        "url": reverse("rate-pair", args=[study.pk, sampled.number]) if only else "",
        "said": WITHDRAWN if row.withdrawn else said,
        "text": " · ".join(filter(None, (row.reading and f"read as “{row.reading}”", row.reason, row.notes))),
        "tags": (*filter(None, [describe_lines(row)]), *describe_label_context(row)),
        "stands": stands,
        "restore_url": reverse("rate-restore", args=[study.pk, sampled.number, row.pk])
        if may_restore
        else "",
    }


def describe_label_context(row: Review | Rating) -> tuple[str, ...]:
    """What was stored with the label: its tags, then how many calls and runs it rests on."""
    rests = (
        count_noun(len(found), noun) for found, noun in ((row.calls, "call"), (row.runs, "run")) if found
    )
    return (*map(tag_name, filter_known_tags(row.tags)), *rests)
