"""Accounts and invitations. Admins, e-mails and links for passwords are for pages alone (decision 75)."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.mail import can_mail_links
from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import form_values, refuse_invalid
from annotation.models import Invitation
from annotation.schemas.project.project import (
    InvitationIn,
    InvitationMade,
    InvitationOut,
    PeoplePage,
    PersonChangeIn,
    PersonOut,
    RevokedOut,
)
from annotation.web.people.forms import InvitationForm
from annotation.web.people.page import find_people, held_role
from annotation.web.people.views import Action, change_person, invite_person, revoke_link
from retrieval.schemas import LARGEST_ID, Id, Page, Paging

router = Router(tags=["people"], auth=signed_in(Role.ADMIN))


@router.get("", response=Page[PersonOut])
def list_people(request: HttpRequest, wanted: Query[PeoplePage]) -> Page[PersonOut]:
    """The accounts, the oldest first. For admins."""
    rows = find_people(wanted.dict(include={"q", "role", "state"})).filter(pk__gt=wanted.after or 0)
    page = wanted.page(rows.order_by("pk"))
    return Page(items=[person_out(user) for user in page.items], next=page.next)


@router.post("/{int:pk}/changes", response=PersonOut)
def change_account(request: HttpRequest, pk: Path[Id], wanted: PersonChangeIn) -> PersonOut:
    """Change the role of an account, close it or open it again. For admins."""
    user, values = get_object_or_404(User, pk=pk), form_values({"role": wanted.role})
    change_person(visible.caller(request), user, Action(wanted.action), values)
    return person_out(User.objects.get(pk=pk))


@router.get("/invitations", response=Page[InvitationOut])
def list_invitations(request: HttpRequest, wanted: Query[Paging]) -> Page[Invitation]:
    """The invitations, the newest first, without their links. For admins."""
    rows = Invitation.objects.filter(pk__lt=wanted.after or LARGEST_ID)
    return wanted.page(rows.select_related("created_by", "accepted_by").order_by("-pk"))


@router.post("/invitations", response={201: InvitationMade})
def invite_account(
    request: HttpRequest, response: HttpResponse, wanted: InvitationIn
) -> Status[InvitationMade]:
    """Invite somebody by a link, which is told once. For admins."""
    form = InvitationForm(form_values(wanted.dict()), can_mail=can_mail_links())
    refuse_invalid(form)
    made = invite_person(request, visible.caller(request), form.cleaned_data)
    response["Cache-Control"] = "no-store"  # so the link is not kept for who sends this again either
    told = {"link": made.link, "mailed": made.mailed, "mail_problem": made.problem}
    return Status(201, InvitationMade.of(made.invitation, **told))


@router.post("/invitations/{int:pk}/revoke", response=RevokedOut)
def revoke_account_link(request: HttpRequest, pk: Path[Id]) -> RevokedOut:
    """Revoke an invitation: its link lets nobody in. For admins."""
    invitation = get_object_or_404(Invitation, pk=pk)
    return RevokedOut(revoked=revoke_link(visible.caller(request), invitation))


def person_out(user: User) -> PersonOut:
    return PersonOut.of(user, role=held_role(user))
