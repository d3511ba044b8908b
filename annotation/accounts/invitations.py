"""Invitations by link: signed, for one account, for some days, and revocable until then."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Final

from django.contrib.auth.models import User
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.utils import timezone

from annotation.accounts.roles import Role, give_role, role_of
from annotation.models import Invitation

USUAL_DAYS: Final = 7
MAX_DAYS: Final = 90
SIGNER: Final = Signer(salt="annotation.accounts.invitations")
LONGEST_WORD: Final = 200


class InvitationOver(Exception):
    """The link was used, revoked or ran out while somebody filled the form in."""


def issue_invitation(
    by: User, role: Role, days: int = USUAL_DAYS, name: str = "", email: str = ""
) -> tuple[Invitation, str]:
    """A new invitation and the word of its link, which is shown once."""
    secret = secrets.token_urlsafe(32)
    made = Invitation.objects.create(
        role=role.value,
        name=name,
        email=email,
        digest=digest_of(secret),
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    return made, SIGNER.sign(secret)


def find_open_invitation(word: str) -> Invitation | None:
    """The invitation of a link that can still be used; a word that we did not sign is never looked up.

    It ends with the admin who made it: who is no admin any more has no open links left.
    """
    try:
        secret = SIGNER.unsign(word[:LONGEST_WORD])
    except BadSignature:
        return None
    found = Invitation.objects.select_related("created_by").filter(digest=digest_of(secret)).first()
    if found is None or found.state != "open" or role_of(found.created_by) is not Role.ADMIN:
        return None
    return found


def accept_invitation(invitation: Invitation, user: User) -> User:
    """Store the new `user` with the role of the invitation, which is used with it. Raises InvitationOver."""
    now = timezone.now()
    with transaction.atomic():
        rows = Invitation.objects.filter(
            pk=invitation.pk, accepted_at=None, revoked_at=None, expires_at__gt=now
        )
        if not rows.update(accepted_at=now):
            raise InvitationOver("This invitation was used or revoked in the meantime. Ask for a new one.")
        user.email = invitation.email
        user.save()
        give_role(user, Role(invitation.role))
        Invitation.objects.filter(pk=invitation.pk).update(accepted_by=user)
    return user


def revoke_invitation(invitation: Invitation) -> bool:
    """Whether it was open and now lets nobody in."""
    rows = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None)
    return bool(rows.update(revoked_at=timezone.now()))


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
