"""Sign-in by an identity provider (OpenID Connect): the one door to Authlib.

Authlib does the protocol: discovery, the code with PKCE, state and nonce, the signature. Who comes in, and
with which role, is `annotation.accounts.identities`. Log-ins by name and password stay open beside it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods

from annotation.accounts.identities import (
    AdmissionRules,
    Admitted,
    NotAdmitted,
    admit_person,
    connect_identity,
)
from annotation.accounts.logins import TooManyLogins, address_of, refuse_rush
from annotation.accounts.roles import Role
from annotation.studies.audit_log import Verb, append_audit_event

BACKEND: Final = "annotation.accounts.roles.Backend"
GOAL: Final = "sign-in-goal"
"""The key of a session with where the person wants to go, and whose account is to be connected."""
PROVIDER_SECONDS: Final = 10
SIGNATURES: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a key that only the provider has: no `none`, and none by our own secret."""
SLOW: Final = "The sign-in took too long, or began in another window. Try again."
UNREACHABLE: Final = (
    "The identity provider can’t be reached or gave a wrong answer. Try again, or log in with a password."
)
log = logging.getLogger(__name__)


def is_configured() -> bool:
    return bool(settings.OIDC_ISSUER)


def connect_word(request: HttpRequest) -> str:
    """What a link must carry to connect a sign-in with the account of this session.

    Another site can send a browser to the address, logged in at the provider as its own; it can't know this.
    """
    return salted_hmac(
        "cosqa_site.accounts.single_sign_on.connect", request.session.session_key or ""
    ).hexdigest()


@login_not_required
@require_http_methods(["GET", "HEAD"])
def begin_sign_in(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider. Who is logged in here connects the sign-in with the account."""
    if not is_configured():
        raise Http404
    if request.user.is_authenticated and not constant_time_compare(
        request.GET.get("connect", ""), connect_word(request)
    ):
        return redirect("password_change")  # whose link has the word
    try:
        refuse_rush(request, "sign-in")
        client = client_of(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)
        back = request.build_absolute_uri(reverse("sign-in-back"))
        check_issuer(client)
        response: HttpResponse = client.authorize_redirect(request, back)
    except TooManyLogins as why:
        return refuse(request, str(why), 429)
    except Exception:  # whatever the network, the provider or Authlib come up with
        log.exception("the identity provider can't be asked")
        return refuse(request, UNREACHABLE, 502)
    goal = request.GET.get("next", "")
    allowed = url_has_allowed_host_and_scheme(goal, {request.get_host()}, require_https=request.is_secure())
    user = request.user.pk if request.user.is_authenticated else None
    request.session[GOAL] = {"next": goal if allowed else "", "connect": user}
    return response


@login_not_required
@require_http_methods(["GET", "HEAD"])
def end_sign_in(request: HttpRequest) -> HttpResponse:
    """The way back from the provider: the person is logged in, or the page says why not."""
    if not is_configured():
        raise Http404
    goal = request.session.pop(GOAL, None)
    if not isinstance(goal, dict):
        return refuse(request, SLOW, 400)
    try:
        claims = ask_claims(request)
    except NotAdmitted as why:
        return refuse(request, str(why), 403)
    except Exception as why:
        return refuse_answer(request, why)
    user = request.user if request.user.is_authenticated else None
    try:
        if goal["connect"] is not None:
            return connect(request, user, goal, claims)
        admitted = admit(claims)
    except NotAdmitted as why:
        note_failure(request, str(why))
        return refuse(request, str(why), 403)
    login(request, admitted.user, backend=BACKEND)
    return redirect(goal["next"] or settings.LOGIN_REDIRECT_URL)


def connect(
    request: HttpRequest, user: Any, goal: Mapping[str, Any], claims: Mapping[str, Any]
) -> HttpResponse:
    """Connect the account that began this, if it is still the one that is logged in. Raises NotAdmitted."""
    if not isinstance(user, User) or user.pk != goal["connect"]:
        return refuse(request, SLOW, 400)
    with transaction.atomic():
        connect_identity(user, settings.OIDC_ISSUER, claims)
        detail = {"sign_in_added": settings.OIDC_ISSUER}
        append_audit_event(user, Verb.ACCOUNT_CHANGED, f"account {user}", detail=detail)
    return redirect("password_change")


def admit(claims: Mapping[str, Any]) -> Admitted:
    """Raises NotAdmitted."""
    unknown = None if settings.OIDC_UNKNOWN == "none" else Role(settings.OIDC_UNKNOWN)
    roles = {group: Role(role) for group, role in settings.OIDC_ROLES.items()}
    with transaction.atomic():
        admitted = admit_person(
            settings.OIDC_ISSUER, claims, AdmissionRules(settings.OIDC_ROLE_CLAIM, roles, unknown)
        )
        if admitted.made or admitted.role is not admitted.role_before:
            detail = {
                "made": admitted.made,
                "role": admitted.role,
                "role_before": admitted.role_before,
                "by": settings.OIDC_ISSUER,
            }
            append_audit_event(None, Verb.ACCOUNT_CHANGED, f"account {admitted.user}", detail=detail)
    return admitted


@lru_cache(maxsize=4)
def client_of(issuer: str, client_id: str, secret: str) -> Any:
    """Authlib's client, which keeps what the provider said of itself. The first one loads Authlib."""
    from authlib.integrations.django_client import OAuth

    return OAuth().register(
        "provider",
        client_id=client_id,
        client_secret=secret or None,
        server_metadata_url=f"{issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": settings.OIDC_SCOPES,
            "code_challenge_method": "S256",
            "default_timeout": PROVIDER_SECONDS,
            **({} if secret else {"token_endpoint_auth_method": "none"}),
        },
    )


def check_issuer(client: Any) -> None:
    """What the provider says of itself has to be of the issuer that was set. Raises ValueError.

    Only signatures that nobody else can make are taken, whatever the provider offers.
    """
    known = client.load_server_metadata()
    if known.get("issuer") != settings.OIDC_ISSUER:
        client_of.cache_clear()
        raise ValueError(f"the provider calls itself {known.get('issuer')!r}, not {settings.OIDC_ISSUER!r}")
    offered = known.get("id_token_signing_alg_values_supported") or ["RS256"]
    known["id_token_signing_alg_values_supported"] = [name for name in offered if name in SIGNATURES]
    methods = known.get("token_endpoint_auth_methods_supported") or []
    if client.client_secret and "client_secret_post" in methods and "client_secret_basic" not in methods:
        client.client_kwargs["token_endpoint_auth_method"] = "client_secret_post"  # noqa: S105 – a method's name


def ask_claims(request: HttpRequest) -> Mapping[str, Any]:
    """What the provider vouches for, after all checks. Raises NotAdmitted, and whatever Authlib raises."""
    client = client_of(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)
    check_issuer(client)
    options = {
        "iss": {"essential": True, "value": settings.OIDC_ISSUER},
        "aud": {"essential": True, "value": settings.OIDC_CLIENT_ID},
    }
    token = client.authorize_access_token(request, claims_options=options)
    claims = token.get("userinfo")
    if not claims:
        raise NotAdmitted("The provider gave no identity (no ID token). Ask the admin of the provider.")
    first = settings.OIDC_ROLE_CLAIM.partition(".")[0]
    if first in claims or settings.OIDC_ROLE_CLAIM in claims:
        return dict(claims)
    return add_userinfo(client, token, dict(claims))


def add_userinfo(client: Any, token: Any, claims: dict[str, Any]) -> dict[str, Any]:
    """The claims with those of the userinfo endpoint, which is asked where groups are not in the ID token."""
    if not client.load_server_metadata().get("userinfo_endpoint"):
        return claims
    more = client.userinfo(token=token)
    if more.get("sub") != claims["sub"]:
        raise NotAdmitted("The provider gave two different subjects (sub). Ask the admin of the provider.")
    return {**more, **claims}


def refuse_answer(request: HttpRequest, why: Exception) -> HttpResponse:
    """The page for an answer that was no sign-in; what the address says is never shown as it is."""
    from authlib.integrations.base_client.errors import MismatchingStateError, OAuthError

    error = str(getattr(why, "error", "") or "")
    known = error if re.fullmatch(r"[a-z_]{1,40}", error) else ""
    note_failure(request, f"{type(why).__name__} {known}".strip())
    if isinstance(why, MismatchingStateError):
        return refuse(request, SLOW, 400)
    if isinstance(why, OAuthError) and request.GET.get("error"):
        return refuse(request, f"The identity provider refused the sign-in{known and f' ({known})'}.", 403)
    log.error("a sign-in failed", exc_info=why)
    return refuse(request, UNREACHABLE, 502)


def note_failure(request: HttpRequest, why: str) -> None:
    detail = {"from": address_of(request), "by": settings.OIDC_ISSUER, "why": why}
    append_audit_event(None, Verb.LOGIN_FAILED, "sign-in by the identity provider", detail=detail)


def refuse(request: HttpRequest, why: str, status: int) -> HttpResponse:
    return render(request, "registration/sign_in_refused.html", {"why": why}, status=status)
