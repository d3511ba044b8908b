"""What belongs to a person: keys, tokens and sign-ins; and invitations of people without an account."""

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
    def issue(self, user: Any, name: str, days: int | None = None) -> tuple[ApiToken, str]:
        """A new token and its secret, which is shown once and stored only as a hash."""
        secret = secrets.token_urlsafe(32)
        ends = token_end() if days is None else timezone.now() + timedelta(days=days)
        return self.create(user=user, name=name, digest=self.digest(secret), expires_at=ends), secret

    def digest(self, secret: str) -> str:
        return hashlib.sha256(secret.encode()).hexdigest()


class ApiToken(models.Model):
    """A bearer token for the API, with the rights of its user."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
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
