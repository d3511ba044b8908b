"""Passwords, changed or replaced by a link: Django's pages, held to our limits and to the audit log."""

from __future__ import annotations

import logging
import threading
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth import views
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.template import loader

from annotation.accounts.access import end_sessions
from annotation.accounts.logins import is_over_limit
from annotation.accounts.mail import can_mail_links
from annotation.jobs.delivery_channels import NotSent, send_mail
from annotation.studies.audit_log import Verb, append_audit_event
from cosqa_site.accounts.single_sign_on import connect_word, is_configured

MAILS_TO_ADDRESS: Final = 3
MAILS_FROM_ADDRESS: Final = 20
"""So many links may be asked for by mail, for one e-mail and from one machine, in the window of log-ins."""
log = logging.getLogger(__name__)


class ForgottenForm(PasswordResetForm):
    """Mails a link to the accounts with this e-mail, outside of the request: its time tells of no account."""

    email = forms.EmailField(
        label="E-mail", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )

    def send_mail(
        self,
        subject_template_name: str,
        email_template_name: str,
        context: dict[str, Any],
        from_email: str | None,
        to_email: str,
        html_email_template_name: str | None = None,
    ) -> None:
        subject = loader.render_to_string(subject_template_name, context)
        body = loader.render_to_string(email_template_name, context)
        threading.Thread(target=mail_quietly, args=(subject, body, to_email), daemon=True).start()


def mail_quietly(subject: str, body: str, address: str) -> None:
    """Whoever asked is told nothing either way, so a failure is for the log."""
    try:
        send_mail(subject, body, [address])
    except NotSent as why:
        log.error("a link for a new password was not mailed: %s", why)


class Forgotten(views.PasswordResetView):
    """Asks for the e-mail; the page after it is the same whether any account has it."""

    form_class = ForgottenForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"can_mail": can_mail_links()}

    def form_valid(self, form: Any) -> HttpResponse:
        if not can_mail_links():
            return redirect("password_reset")
        email = form.cleaned_data["email"]
        if is_over_limit(self.request, "forgotten", email, MAILS_TO_ADDRESS, MAILS_FROM_ADDRESS):
            log.warning("a link for a new password was refused: too many were asked for")
            return redirect("password_reset_done")
        form.save(
            domain_override=self.request.get_host(),
            use_https=self.request.is_secure(),
            token_generator=self.token_generator,
            request=self.request,
        )
        return redirect("password_reset_done")


class MailSent(views.PasswordResetDoneView):
    """Says what happens next."""


class NewPassword(views.PasswordResetConfirmView):
    """Sets a password by a link that was mailed, or that an admin passed on. It works once."""

    def get_user(self, uidb64: str) -> Any:
        """Nobody for a closed account: its links let nobody in."""
        user = super().get_user(uidb64)
        return user if user is not None and user.is_active else None

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            response = super().form_valid(form)
            note_password(form.user, "by a link")
            end_sessions(form.user)
        return response


class PasswordSet(views.PasswordResetCompleteView):
    """Leads to the log-in."""


class ChangePassword(views.PasswordChangeView):
    """One's own password, by the one before; and the sign-in of a provider, where one is set."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        user = self.request.user
        assert isinstance(user, User), "the page is for people who are logged in"
        own = user.identities.filter(issuer=settings.OIDC_ISSUER)
        ways = {
            "has_password": user.has_usable_password(),
            "provider": settings.OIDC_NAME if is_configured() else "",
            "is_connected": is_configured() and own.exists(),
            "connect": connect_word(self.request),
        }
        return super().get_context_data(**kwargs) | ways

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            response = super().form_valid(form)
            note_password(form.user, "by its owner")
        return response


class Changed(views.PasswordChangeDoneView):
    """Says so."""


def note_password(user: User, how: str) -> None:
    append_audit_event(user, Verb.ACCOUNT_CHANGED, f"account {user}", detail={"new_password": how})
