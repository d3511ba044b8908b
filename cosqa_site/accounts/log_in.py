"""Logging in and out, and how long a session lasts that nobody uses."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.contrib.auth.views import LoginView, LogoutView
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from annotation.accounts.logins import TooManyLogins, address_of
from annotation.accounts.mail import can_mail_links
from annotation.studies.audit_log import Verb, append_audit_event
from cosqa_site.accounts.single_sign_on import is_configured

USED: Final = "used"
"""The key of a session under which it is kept when a person used it last."""
STEPS: Final = 50
"""How exact that is, in parts of the time after which a session ends: not every page is a write."""
BY_ITSELF: Final = frozenset({"rate-heartbeat"})
"""Routes that an open page asks for by itself, with a method that says otherwise."""


class EnterForm(AuthenticationForm):
    """Name and password; that a name is known or its account closed is not told apart from a wrong one."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": "The name or the password is wrong. Capital letters count in both.",
    }


class Enter(LoginView):
    """The log-in page; where too many try it says when to come back."""

    form_class = EnterForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """The usual context, which ways there are to come in, and whether nobody has an account yet."""
        ways = {"provider": settings.OIDC_NAME if is_configured() else "", "can_mail": can_mail_links()}
        return super().get_context_data(**kwargs) | ways | {"is_empty": not User.objects.exists()}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().post(request, *args, **kwargs)
        except TooManyLogins as why:
            form = self.get_form_class()(request, initial={"username": request.POST.get("username", "")})
            context = self.get_context_data(form=form, refused=str(why))
            headers = {"Retry-After": str(why.retry_after)}
            return self.render_to_response(context, status=HTTPStatus.TOO_MANY_REQUESTS, headers=headers)


class Leave(LogoutView):
    """Log out, and have the browser forget pages and drafts: the next person sees neither."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response = super().post(request, *args, **kwargs)
        response["Clear-Site-Data"] = '"cache", "storage"'
        return response


class IdleSessions(MiddlewareMixin):
    """A session lasts while a person uses it; what an open page asks for by itself does not count."""

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> None:
        if SESSION_KEY in request.session and is_by_person(request):
            now = int(time.time())
            if now - request.session.get(USED, 0) > settings.SESSION_COOKIE_AGE / STEPS:
                request.session[USED] = now


def is_by_person(request: HttpRequest) -> bool:
    """Whether a page was opened or something sent; programs that are no browser don't say which."""
    if request.method == "POST":
        return request.resolver_match is None or request.resolver_match.url_name not in BY_ITSELF
    return request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"


@receiver(user_logged_in)
def note_begin(sender: object, request: HttpRequest, **sent: Any) -> None:
    request.session[USED] = int(time.time())


@receiver(user_logged_in)
def note_log_in(sender: object, request: HttpRequest, user: User, **sent: Any) -> None:
    """Keep it in the audit log, too; a test's or a command's log-in has no address."""
    if request.method:
        append_audit_event(user, Verb.LOGGED_IN, f"account {user}", detail={"from": address_of(request)})


@receiver(user_login_failed)
def note_failure(sender: object, request: HttpRequest | None = None, **sent: Any) -> None:
    """A name that no account has is not kept: some people type their password in its place."""
    if request is None:
        return
    name = str(sent["credentials"].get("username", ""))
    known = User.objects.filter(username=name).exists()
    what = f"account {name}" if known else "an unknown account"
    append_audit_event(None, Verb.LOGIN_FAILED, what, detail={"from": address_of(request)})
