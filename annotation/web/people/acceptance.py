"""An invited person makes an account."""

from __future__ import annotations

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.accounts.invitations import InvitationOver, accept_invitation, find_open_invitation
from annotation.accounts.roles import FORM, Role
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.web.people.forms import RIGHTS, JoinForm
from annotation.web.shared.forms import attempt
from annotation.web.shared.requests import render_form

BACKEND = "annotation.accounts.roles.Backend"


@login_not_required
@require_http_methods(list(FORM))
@sensitive_post_parameters()
def join(request: HttpRequest, word: str) -> HttpResponse:
    """The form behind an invitation's link; who is logged in already is told so and changes nothing."""
    invitation = find_open_invitation(word)
    if invitation is None:
        return render(request, "annotation/people/invitation_over.html", status=404)
    context = {"invitation": invitation, "rights": RIGHTS[Role(invitation.role)]}
    if request.user.is_authenticated:
        return render(request, "annotation/people/join.html", context)
    form = JoinForm(request.POST or None)
    if form.is_valid():

        def accept() -> None:
            with transaction.atomic():
                user = accept_invitation(invitation, form.save(commit=False))
                detail = {"role": invitation.role, "invited_by": invitation.created_by.get_username()}
                append_audit_event(user, Verb.INVITATION_ACCEPTED, str(invitation), detail=detail)

        attempt(form, accept, InvitationOver)
        if form.is_valid():
            login(request, form.instance, backend=BACKEND)
            return redirect("home")
    return render_form(request, "annotation/people/join.html", form, **context)
