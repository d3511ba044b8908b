"""Who calls: a bearer token, or a session with its CSRF token. The role is checked before the body."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils import timezone
from ninja.errors import AuthenticationError
from ninja.security import HttpBearer, SessionAuth
from ninja.utils import check_csrf

from annotation.accounts.roles import Role, has_role
from annotation.models import ApiToken

Scope = ApiToken.Scope
RATING = "/api/rate/"
NOTED = timedelta(minutes=1)
"""How exact `last_used_at` is: so a script's thousand requests are not a thousand writes."""


class Token(HttpBearer):
    """`Authorization: Bearer …` with a token that `manage.py token` made."""

    def __init__(self, role: Role) -> None:
        super().__init__()
        self.role = role

    def authenticate(self, request: HttpRequest, token: str) -> User:
        """The token's user. Raises AuthenticationError, PermissionDenied."""
        found = find_token(token)
        if found is None:
            raise AuthenticationError(
                message="The token is unknown, expired or withdrawn, or its account is closed."
            )
        refuse_beyond_scope(found, request, self.role)
        request.user = user = found.user
        return entitled(user, self.role)


class Session(SessionAuth):
    """The browser's session; requests that change something need the header X-CSRFToken too."""

    def __init__(self, role: Role) -> None:
        super().__init__()
        self.role = role

    def __call__(self, request: HttpRequest) -> Any | None:
        """The session's user, None where nobody is logged in. Raises PermissionDenied."""
        if not isinstance(request.user, User):
            return None
        if check_csrf(request):
            raise PermissionDenied("Send the CSRF token in the header X-CSRFToken, or use a bearer token.")
        return entitled(request.user, self.role)


def signed_in(role: Role) -> list[Token | Session]:
    """The `auth` of an operation that is for `role` and those above it."""
    return [Token(role), Session(role)]


def entitled(user: User, role: Role) -> User:
    if not has_role(user, role):
        raise PermissionDenied(f"This is for the role {role}; ask an admin for it.")
    return user


def refuse_beyond_scope(token: ApiToken, request: HttpRequest, role: Role) -> None:
    """Raises PermissionDenied where the token's scope is narrower than the request."""
    scope = token.scope
    rates = scope in (Scope.RATE, Scope.REVIEW) and request.path_info.startswith(RATING)
    reviews = scope == Scope.REVIEW and role != Role.ADMIN
    if scope == Scope.ALL or request.method in ("GET", "HEAD") or rates or reviews:
        return
    raise PermissionDenied(f"This token may {Scope(scope).label}: make one with a wider scope.")


def holder(secret: str) -> User | None:
    """Whose token it is; None for tokens that are unknown or expired, and accounts that are closed."""
    found = find_token(secret)
    return found.user if found else None


def find_token(secret: str) -> ApiToken | None:
    """The token with its user; None for one that is unknown or expired, or whose account is closed."""
    rows = ApiToken.objects.filter(digest=ApiToken.objects.digest(secret), user__is_active=True)
    token, now = rows.select_related("user").first(), timezone.now()
    if token is None or token.expires_at <= now:
        return None
    if token.last_used_at is None or token.last_used_at < now - NOTED:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token
