"""The tables of this app, to look at. What they hold is made by imports and minings, never by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.db import DataError, models
from django.http import HttpRequest

from retrieval.models import (
    Alias,
    Annotator,
    Benchmark,
    BenchmarkLabel,
    Candidate,
    Collection,
    Job,
    Label,
    Member,
    Mining,
    RankedList,
    Run,
    Score,
)

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin  # takes no parameter at run time


class Rows(ChangeList):
    """Rows by what the address asks; one that asks for what no value can be shows all rows."""

    def get_results(self, request: HttpRequest) -> None:
        try:
            super().get_results(request)
        except (ValueError, OverflowError, DataError) as why:  # year 99999
            raise IncorrectLookupParameters(why) from why


class ReadOnly(ModelAdmin):
    """Whoever is let into the site may look; nobody changes anything here. Long tables are not counted."""

    show_full_result_count = False
    list_per_page = 50
    actions = None

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return Rows

    def has_module_permission(self, request: HttpRequest) -> bool:
        return True

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


@admin.register(Collection)
class CollectionAdmin(ReadOnly):
    list_display = ("name", "kind", "version", "size", "source", "created_at")
    list_filter = ("kind",)
    search_fields = ("name",)


@admin.register(Member)
class MemberAdmin(ReadOnly):
    list_display = ("position", "source_id", "collection", "licence")
    list_select_related = ("collection",)
    search_fields = ("=source_id",)


@admin.register(Alias)
class AliasAdmin(ReadOnly):
    list_display = ("number", "source_id", "collection")
    list_select_related = ("collection",)
    search_fields = ("=source_id",)


@admin.register(Job)
class JobAdmin(ReadOnly):
    list_display = ("id", "kind", "subject", "state", "done", "total", "created_by", "created_at")
    list_select_related = ("created_by",)
    list_filter = ("kind", "state")


@admin.register(Mining)
class MiningAdmin(ReadOnly):
    list_display = ("id", "queries", "snippets", "encoders", "k", "state", "created_at")
    list_select_related = ("queries", "snippets")
    list_filter = ("state",)


@admin.register(Candidate)
class CandidateAdmin(ReadOnly):
    list_display = ("id", "mining_id", "query", "rank", "score")
    list_select_related = ("query",)


@admin.register(Annotator)
class AnnotatorAdmin(ReadOnly):
    list_display = ("name", "kind", "version", "created_at")
    list_filter = ("kind",)


@admin.register(Label)
class LabelAdmin(ReadOnly):
    list_display = (
        "id",
        "pair_id",
        "annotator",
        "round",
        "value",
        "assisted",
        "basis",
        "source",
        "created_at",
    )
    list_select_related = ("annotator",)
    list_filter = ("assisted", "value", "basis")


@admin.register(Benchmark)
class BenchmarkAdmin(ReadOnly):
    list_display = ("name", "version", "queries", "snippets", "pool", "size", "positives", "published_at")
    list_select_related = ("queries", "snippets")
    exclude = ("matches",)


@admin.register(BenchmarkLabel)
class BenchmarkLabelAdmin(ReadOnly):
    list_display = ("id", "benchmark_id", "pair_id", "relevance", "label_id")
    raw_id_fields = ("pair", "label")


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = (
        "id",
        "system",
        "benchmark",
        "text_option",
        "pool",
        "source",
        "code_version",
        "created_at",
        "scored_at",
    )
    list_select_related = ("benchmark",)
    list_filter = ("pool", "text_option")


@admin.register(RankedList)
class RankedListAdmin(ReadOnly):
    list_display = ("id", "run_id", "query_id")
    exclude = ("data",)


@admin.register(Score)
class ScoreAdmin(ReadOnly):
    list_display = ("id", "run_id", "metric")
    exclude = ("values", "condensed", "judged")
