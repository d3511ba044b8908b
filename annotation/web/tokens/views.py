"""API tokens: make one, see when each was used, withdraw one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache

from annotation.accounts.roles import FORM, POST, Role, require_role
from annotation.web.shared.requests import number, person, render_form
from annotation.web.tokens.page import TokenForm, tokens_page, withdraw_token


@never_cache
@require_role(Role.READER, FORM)
def index(request: HttpRequest) -> HttpResponse:
    """POST makes a token; the answer alone shows its secret, which is stored nowhere."""
    user = person(request)
    form, secret = TokenForm(user, request.POST if request.method == "POST" else None), ""
    if form.is_valid():
        secret, form = form.make(), TokenForm(user)
    return render_form(request, "annotation/tokens/index.html", form, page=tokens_page(user), secret=secret)


@require_role(Role.READER, POST)
def withdraw(request: HttpRequest) -> HttpResponse:
    """Withdraw the token `token`, at once."""
    gone = withdraw_token(person(request), number(request.POST, "token"))
    if gone is None:
        messages.info(request, "There is no such token any more.")
    else:
        messages.success(request, f"The token “{gone.name}” is withdrawn.")
    return redirect("tokens")
