"""Accounts and invitations for admins; each change is in the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.accounts.account_changes import (
    AccountChangeRefused,
    change_role,
    lock_for_change,
    set_account_open,
)
from annotation.accounts.invitations import issue_invitation, revoke_invitation
from annotation.accounts.mail import can_mail_links
from annotation.accounts.roles import FORM, GET, POST, Role, give_role, require_role
from annotation.jobs.delivery_channels import NotSent, send_mail
from annotation.models import Invitation
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.web.people.forms import AccountForm, EmailForm, InvitationForm, RoleForm
from annotation.web.people.page import held_role, password_link, people_page, person_page
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import action_of, person, render_form, say_refusals

INVITATION: Final = """You are invited to the CoSQA Workbench, with the role {role}.

Open this link within {days} days, and choose a name and a password:

{link}

If you do not know what this is about, ignore this mail.
"""


class Action(StrEnum):
    """What an admin does to an account."""

    ROLE = "role"
    EMAIL = "email"
    CLOSE = "close"
    OPEN = "open"
    RESET = "reset"
    DISCONNECT = "disconnect"


@require_role(Role.ADMIN, GET)
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "annotation/people/index.html", {"page": people_page(request.GET)})


@require_role(Role.ADMIN, FORM)
def new(request: HttpRequest) -> HttpResponse:
    """An account for somebody who sets the password with a link that is shown once."""
    form = AccountForm(request.POST or None)
    if not form.is_valid():
        return render_form(request, "annotation/people/new.html", form)
    with transaction.atomic():
        user = form.save()
        give_role(user, Role(form.cleaned_data["role"]))
        note_change(person(request), user, {"made": True, "role": form.cleaned_data["role"]})
    return show_password_link(request, user)


@require_role(Role.ADMIN, FORM)
def invite(request: HttpRequest) -> HttpResponse:
    """A link for somebody who has no account yet; it is shown once, and mailed where that is possible."""
    form = InvitationForm(request.POST or None, can_mail=can_mail_links())
    if not form.is_valid():
        return render_form(request, "annotation/people/invite.html", form)
    made = invite_person(request, person(request), form.cleaned_data)
    if made.problem:
        messages.warning(request, f"The mail could not be sent, so pass the link on yourself. {made.problem}")
    context = {
        "link": made.link,
        "invitation": made.invitation,
        "days": form.cleaned_data["days"],
        "mailed": made.mailed,
    }
    return render(request, "annotation/people/link.html", context)


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation with its link, whether it was mailed, and why it could not be."""

    invitation: Invitation
    link: str
    mailed: bool
    problem: str


def invite_person(request: HttpRequest, by: User, chosen: Mapping[str, Any]) -> Invited:
    """Make the invitation of a valid form, and mail its link where that is possible."""
    with transaction.atomic():
        invitation, word = issue_invitation(
            by, Role(chosen["role"]), chosen["days"], chosen["name"], chosen["email"]
        )
        note_invitation(by, Verb.INVITATION_MADE, invitation)
    link = request.build_absolute_uri(reverse("join", args=[word]))
    if not invitation.email or not can_mail_links():
        return Invited(invitation, link, mailed=False, problem="")
    body = INVITATION.format(role=invitation.role, days=chosen["days"], link=link)
    try:
        send_mail("Invitation to the CoSQA Workbench", body, [invitation.email])
    except NotSent as why:
        return Invited(invitation, link, mailed=False, problem=str(why))
    return Invited(invitation, link, mailed=True, problem="")


@require_role(Role.ADMIN, POST)
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    invitation = get_object_or_404(Invitation, pk=pk)
    if revoke_link(person(request), invitation):
        messages.success(request, "The invitation is revoked: its link lets nobody in.")
    else:
        messages.error(request, "This invitation is used or revoked already.")
    return redirect("people")


def revoke_link(by: User, invitation: Invitation) -> bool:
    """Whether the invitation was open, and lets nobody in now."""
    with transaction.atomic():
        revoked = revoke_invitation(invitation)
        if revoked:
            note_invitation(by, Verb.INVITATION_REVOKED, invitation)
    return revoked


@require_role(Role.ADMIN, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    return render(request, "annotation/people/person.html", forms_of(get_object_or_404(User, pk=pk)))


def forms_of(user: User, **sent: Any) -> dict[str, Any]:
    page = person_page(user)
    return {
        "page": page,
        "role_form": RoleForm(initial={"role": page["role"]}),
        "email_form": EmailForm(initial={"email": user.email}),
        **sent,
    }


@require_role(Role.ADMIN, FORM)
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """GET asks once more where that is wise, POST does it."""
    user, action = get_object_or_404(User, pk=pk), action_of(request, Action)
    if request.method != "POST":
        return render(request, "annotation/people/change.html", {"page": person_page(user), "action": action})
    if action is Action.RESET:
        return reset(request, user)
    if action is Action.EMAIL:
        form = EmailForm(request.POST)
        if not form.is_valid():
            return render(
                request, "annotation/people/person.html", forms_of(user, email_form=form), status=422
            )
    with say_refusals(request, AccountChangeRefused):
        if change_person(person(request), user, action, request.POST):
            messages.success(request, describe_change(user, action))
    return redirect("person", pk=user.pk)


def change_person(by: User, user: User, action: Action, values: QueryDict) -> bool:
    """Change an account, with a line in the audit log; whether anything changed.

    Raises AccountChangeRefused.
    """
    with transaction.atomic():
        detail = do_change(by, user, action, values)
        if detail:
            note_change(by, user, detail)
    return bool(detail)


def do_change(by: User, user: User, action: Action, values: QueryDict) -> dict[str, Any]:
    """Do it; what the audit log keeps, empty where there was nothing to do. Raises AccountChangeRefused."""
    if action is Action.ROLE:
        form = RoleForm(values)
        if not form.is_valid():
            raise AccountChangeRefused("Choose one of the roles.")
        before, role = held_role(user), Role(form.cleaned_data["role"])
        if before is role:
            return {}
        change_role(by, user, role)
        return {"role": role, "role_before": before}
    if action is Action.EMAIL:
        email = values.get("email", "").strip()
        User.objects.filter(pk=user.pk).update(email=email)
        return {"changed": ["email"]}
    if action is Action.DISCONNECT:
        identity = user.identities.filter(pk=whole_number(values.get("identity", ""))).first()
        if identity is None:
            return {}
        lock_for_change(by, user)
        identity.delete()
        return {"sign_in_removed": str(identity)}
    is_open = action is Action.OPEN
    if user.is_active is is_open:
        return {}
    set_account_open(by, user, is_open)
    return {"state": "open" if is_open else "closed"}


def reset(request: HttpRequest, user: User) -> HttpResponse:
    """A link for a new password, shown once. The old password works until the new one is set."""
    if not user.is_active:
        messages.error(request, "The account is closed. Open it first.")
        return redirect("person", pk=user.pk)
    with transaction.atomic():
        note_change(person(request), user, {"password_link": True})
    return show_password_link(request, user)


def show_password_link(request: HttpRequest, user: User) -> HttpResponse:
    days = settings.PASSWORD_RESET_TIMEOUT // 86_400
    context = {"link": password_link(request, user), "owner": user, "days": days}
    return render(request, "annotation/people/link.html", context)


def note_change(by: User, user: User, detail: Mapping[str, Any]) -> None:
    append_audit_event(by, Verb.ACCOUNT_CHANGED, f"account {user}", detail=detail)


def note_invitation(by: User, verb: Verb, invitation: Invitation) -> None:
    detail = {"role": invitation.role, "for": invitation.name, "email": invitation.email}
    append_audit_event(by, verb, str(invitation), detail=detail)


def describe_change(user: User, action: Action) -> str:
    return {
        Action.ROLE: f"The role of {user} is changed.",
        Action.EMAIL: f"The e-mail of {user} is changed.",
        Action.CLOSE: f"The account of {user} is closed: its sessions and API tokens have ended.",
        Action.OPEN: f"{user} can log in again. API tokens have to be made again.",
        Action.DISCONNECT: "The sign-in is removed.",
    }[action]
