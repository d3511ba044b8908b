"""The tables of this app, to look at; prices and accounts may be changed."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.views.main import ALL_VAR, ERROR_FLAG, PAGE_VAR
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.db import models, transaction
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from annotation.accounts.roles import role_of
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
    Review,
    Step,
    Webhook,
)
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.exposure import mark_builds_seen, mark_seen
from retrieval.admin import BenchmarkLabelAdmin, CandidateAdmin, LabelAdmin, ReadOnly
from retrieval.models import BenchmarkLabel, Candidate, Label

USED = (
    "Calls were made at this price, so it can't be changed: it says what they cost. Add a price of the same "
    "model with a later date; calls from then on are made at that one."
)

PLACES = {PAGE_VAR, ALL_VAR, ERROR_FLAG}
"""What an address says of a table that tells nothing of its rows."""


class Editable(ReadOnly):
    """Whoever is let into the site may add and change, and delete nothing that others refer to."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return True


class Telling(ReadOnly):
    """A table that tells how pairs were judged: whoever looks at rows has seen their pairs."""

    pair = "pair"
    """The way from a row to its pair."""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if set(request.GET) - PLACES:  # it is chosen or sorted by columns that tell of any pair
            mark_builds_seen(request.user, Build.objects.values_list("pk", flat=True))
        response = super().changelist_view(request, extra_context)
        shown = (getattr(response, "context_data", None) or {}).get("cl")
        self.note(request, [row.pk for row in shown.result_list] if shown else [])
        return response

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        response = super().change_view(request, object_id, *args, **kwargs)
        if response.status_code == HTTPStatus.OK:
            self.note(request, [int(object_id)])
        return response

    def note(self, request: HttpRequest, rows: list[int]) -> None:
        found = self.model._default_manager.filter(pk__in=rows).values_list(self.pair, flat=True)
        mark_seen(request.user, [pair for pair in found if pair is not None])


@admin.register(Price)
class PriceAdmin(Editable):
    """A new price is a new row with its date; one that calls were made at stays as it is."""

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

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return not (isinstance(obj, Price) and obj.is_used)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The row's form, or the row and why it can't be changed; a form that comes too late is told, too."""
        price = self.get_object(request, object_id)
        if price is not None and not self.has_change_permission(request, price):
            self.message_user(request, USED, messages.WARNING)
            if request.method == "POST":
                return HttpResponseRedirect(request.path)
        return super().change_view(request, object_id, form_url, extra_context)

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

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """The role is stored last, so what was done to an account is recorded here."""
        before = role_of(User.objects.get(pk=form.instance.pk))
        super().save_related(request, form, formsets, change)
        account = User.objects.get(pk=form.instance.pk)
        detail = {
            "made": not change,
            "role": role_of(account),
            "role_before": before,
            "state": "open" if account.is_active else "closed",
            "changed": sorted(form.changed_data),
        }
        if form.changed_data:
            append_audit_event(request.user, Verb.ACCOUNT_CHANGED, f"account {account}", detail=detail)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002
        """Recorded where another password was set; never the password."""
        with transaction.atomic():
            known = User.objects.filter(pk=int(id)).values_list("password", flat=True)
            before = list(known)
            response = super().user_change_password(request, id, form_url)
            if list(known.all()) != before:
                account = User.objects.get(pk=int(id))
                detail = {"new_password": True}
                append_audit_event(request.user, Verb.ACCOUNT_CHANGED, f"account {account}", detail=detail)
        return response


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

    list_display = ("at", "user", "before", "after", "reason")
    list_select_related = ("user",)


@admin.register(Case)
class CaseAdmin(Telling):
    list_display = ("id", "build_id", "rank", "stage", "label", "reason")
    list_filter = ("stage",)
    ordering = ("-id",)


@admin.register(Step)
class StepAdmin(Telling):
    pair = "case__pair"
    list_display = ("id", "case_id", "number", "before", "event", "after", "at")
    ordering = ("-id",)


@admin.register(LLMCall)
class LLMCallAdmin(Telling):
    pair = "steps__case__pair"
    list_display = ("id", "agent", "model", "status", "input_tokens", "output_tokens", "cost", "created_at")
    list_filter = ("status", "agent")
    search_fields = ("=digest",)
    ordering = ("-id",)


@admin.register(Execution)
class ExecutionAdmin(Telling):
    pair = "cases__pair"
    list_display = ("id", "outcome", "backend", "ran", "touched", "seconds", "created_at")
    list_filter = ("outcome", "backend")
    ordering = ("-id",)


@admin.register(Review)
class ReviewAdmin(Telling):
    list_display = ("id", "pair_id", "rater", "revision", "label", "withdrawn", "created_at")
    list_select_related = ("rater",)


admin.site.unregister([BenchmarkLabel, Candidate, Label])


@admin.register(Label)
class SeenLabelAdmin(Telling, LabelAdmin):
    """Labels, which tell most of all."""


@admin.register(BenchmarkLabel)
class SeenBenchmarkLabelAdmin(Telling, BenchmarkLabelAdmin):
    """Labels as they were published."""


@admin.register(Candidate)
class SeenCandidateAdmin(Telling, CandidateAdmin):
    """Ranks and scores."""


@admin.register(Merge)
class MergeAdmin(ReadOnly):
    list_display = (
        "asked_at",
        "build",
        "rule",
        "asked_by",
        "pairs",
        "new_or_changed",
        "withdrawn",
        "finished_at",
    )
    list_select_related = ("build", "asked_by")


@admin.register(ConnectionTest)
class ConnectionTestAdmin(ReadOnly):
    list_display = ("created_at", "user", "base_url", "model", "state", "cost")
    list_select_related = ("user",)


@admin.register(Webhook)
class WebhookAdmin(ReadOnly):
    list_display = ("name", "is_on", "failing_since", "created_by", "created_at")
    list_select_related = ("created_by",)
    exclude = ("salt", "digest")


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly):
    list_display = ("name", "user", "scope", "created_at", "last_used_at", "expires_at")
    list_select_related = ("user",)
    exclude = ("digest",)
