"""What ends with a password, or when an account is closed: its sessions and its tokens.

Django ends the sessions of an old password by itself. A closed account is refused anyway; but nothing of it
may come back when it is opened again.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.utils import timezone

from annotation.models import ApiToken


class TokensEnd:
    """A validator that takes every password; with a new one the account's tokens are withdrawn."""

    def validate(self, password: str, user: Any = None) -> None:
        """Nothing is wrong with it."""

    def get_help_text(self) -> str:
        return "With a new password all other sessions and all API tokens of the account end."

    def password_changed(self, password: str, user: Any = None) -> None:
        """Called after a new password is stored, but not when the same one is only hashed again."""
        if user is not None and user.pk:
            ApiToken.objects.filter(user=user.pk).delete()


@receiver(post_save, sender=User)
def end_access_of_closed(sender: object, instance: User, raw: bool = False, **sent: Any) -> None:
    if raw or instance.is_active:
        return
    ApiToken.objects.filter(user=instance.pk).delete()
    end_sessions(instance)


def end_sessions(user: User) -> None:
    """Log the person out everywhere. All sessions are looked through: which is whose is not in a column."""
    current = Session.objects.filter(expire_date__gt=timezone.now())
    whose = ((row.pk, row.get_decoded().get(SESSION_KEY)) for row in current.iterator())
    Session.objects.filter(pk__in=[pk for pk, key in whose if key == str(user.pk)]).delete()
