"""The tables of this app, to look at; prices and accounts may be changed."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.db import models
from django.forms import ModelForm
from django.http import HttpRequest

from annotation.models import (
    ApiToken,
    Build,
    BuildEvent,
    Case,
    ConnectionTest,
    Execution,
    LLMCall,
    Merge,
    Price,
    ProjectCapChange,
    PublishJob,
    Review,
    Step,
)
from retrieval.admin import ReadOnly


class Editable(ReadOnly):
    """Whoever is let into the site may add and change, and delete nothing that others refer to."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return True


@admin.register(Price)
class PriceAdmin(Editable):
    """A new price is a new row with its date; calls keep the price that they were made at."""

    list_display = (
        "model",
        "effective_from",
        "input",
        "output",
        "cache_read",
        "cache_write",
        "note",
        "source",
    )
    list_filter = ("model",)
    readonly_fields = ("source",)

    def save_model(self, request: HttpRequest, obj: Price, form: ModelForm[Price], change: bool) -> None:
        """Whatever a person saves is that person's, and `prices load` leaves the model alone from then on."""
        obj.source = ""
        super().save_model(request, obj, form, change)


admin.site.unregister([User, Group])


@admin.register(User)
class AccountAdmin(Editable, UserAdmin):  # type: ignore[type-arg]  # its parameter differs between Django's versions
    """Accounts and their role. Nobody is made a superuser here."""

    list_display = ("username", "is_active", "last_login")
    list_filter = ("groups", "is_active")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (
            "Role",
            {
                "fields": ("is_active", "groups"),
                "description": "reader, expert or admin: the highest counts.",
            },
        ),
    )


@admin.register(Build)
class BuildAdmin(ReadOnly):
    list_display = ("name", "state", "provider", "model", "created_by", "created_at")
    list_select_related = ("created_by",)
    list_filter = ("state", "provider")


@admin.register(BuildEvent)
class BuildEventAdmin(ReadOnly):
    list_display = ("at", "build", "event", "user", "note")
    list_select_related = ("build", "user")


@admin.register(ProjectCapChange)
class ProjectCapChangeAdmin(ReadOnly):
    """The cap itself is changed on the dashboard, where a reason is asked for."""

    list_display = ("at", "user", "before", "after", "why")
    list_select_related = ("user",)


@admin.register(Case)
class CaseAdmin(ReadOnly):
    list_display = ("id", "build_id", "rank", "stage", "label", "reason")
    list_filter = ("stage",)
    ordering = ("-id",)


@admin.register(Step)
class StepAdmin(ReadOnly):
    list_display = ("id", "case_id", "number", "before", "event", "after", "at")
    ordering = ("-id",)


@admin.register(LLMCall)
class LLMCallAdmin(ReadOnly):
    list_display = ("id", "agent", "model", "status", "input_tokens", "output_tokens", "cost", "created_at")
    list_filter = ("status", "agent")
    search_fields = ("=digest",)
    ordering = ("-id",)


@admin.register(Execution)
class ExecutionAdmin(ReadOnly):
    list_display = ("id", "outcome", "backend", "ran", "touched", "seconds", "created_at")
    list_filter = ("outcome", "backend")
    ordering = ("-id",)


@admin.register(Review)
class ReviewAdmin(ReadOnly):
    list_display = ("id", "pair_id", "rater", "revision", "label", "withdrawn", "created_at")
    list_select_related = ("rater",)


@admin.register(Merge)
class MergeAdmin(ReadOnly):
    list_display = ("asked_at", "build", "rule", "asked_by", "pairs", "given", "withdrawn", "finished_at")
    list_select_related = ("build", "asked_by")


@admin.register(PublishJob)
class PublishJobAdmin(ReadOnly):
    list_display = ("created_at", "build", "name", "pool", "created_by", "state", "done", "total")
    list_select_related = ("build", "created_by")


@admin.register(ConnectionTest)
class ConnectionTestAdmin(ReadOnly):
    list_display = ("created_at", "user", "base_url", "model", "state", "cost")
    list_select_related = ("user",)


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly):
    list_display = ("name", "user", "created_at", "last_used_at")
    list_select_related = ("user",)
    exclude = ("digest",)
