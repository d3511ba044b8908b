"""What belongs to a person: keys, tokens, sign-ins and answers that are sent again; and invitations."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone


class Preference(models.Model):
    """How one person likes the review page."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="preference")
    shortcuts = models.JSONField(default=dict, help_text="action → key, where it differs from the default")
    shortcuts_on = models.BooleanField(default=True)
    layout = models.JSONField(default=dict, blank=True, help_text="sizes and closed panes of the review page")

    def __str__(self) -> str:
        return f"preferences of {self.user}"


def token_end() -> datetime:
    """Until when a token works that is made now."""
    return timezone.now() + timedelta(days=settings.TOKEN_DAYS)


class ApiTokenManager(models.Manager["ApiToken"]):
    def issue(
        self, user: Any, name: str, days: int | None = None, scope: str = "all"
    ) -> tuple[ApiToken, str]:
        """A new token and its secret, which is shown once and stored only as a hash."""
        secret = secrets.token_urlsafe(32)
        ends = token_end() if days is None else timezone.now() + timedelta(days=days)
        columns = {"user": user, "name": name, "scope": scope, "expires_at": ends}
        return self.create(digest=self.digest(secret), **columns), secret

    def digest(self, secret: str) -> str:
        return hashlib.sha256(secret.encode()).hexdigest()


class ApiToken(models.Model):
    """A bearer token for the API, with the rights of its user as far as its scope goes."""

    class Scope(models.TextChoices):
        READ = "read", "read"
        RATE = "rate", "read, and rate in studies"
        REVIEW = "review", "read, rate, review and decide"
        ALL = "all", "all that the account may do"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=6, choices=Scope, default=Scope.ALL, db_default=Scope.ALL)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(default=token_end, help_text="from then on it is refused")

    objects = ApiTokenManager()

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"


class SignInIdentity(models.Model):
    """Who a person is for an identity provider: its `sub`, which is never given to another one there."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_person_a_subject")]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


class Invitation(models.Model):
    """A link with which one person makes an account with a role. Its secret is stored only as a hash."""

    role = models.CharField(max_length=20)
    name = models.CharField(max_length=150, blank=True, help_text="for whom it is; an admin's note")
    email = models.EmailField(blank=True)
    digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"invitation {self.pk}"

    @property
    def state(self) -> str:
        """One of accepted, revoked, expired and open."""
        if self.accepted_at is not None:
            return "accepted"
        if self.revoked_at is not None:
            return "revoked"
        return "open" if self.expires_at > timezone.now() else "expired"


class StoredAnswer(models.Model):
    """What a POST with an `Idempotency-Key` was answered, for a day; sent again it is not done again."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    digest = models.CharField(max_length=64, help_text="sha256 of address and body")
    status = models.PositiveSmallIntegerField(default=0, help_text="0: it is still being answered")
    content_type = models.CharField(max_length=100, blank=True)
    body = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="stored_answer_once")]

    def __str__(self) -> str:
        return f"{self.key} of {self.user}"
