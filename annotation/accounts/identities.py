"""Who comes from an identity provider: known by its `sub` alone, with the role that its groups give."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from annotation.accounts.roles import RANK, Role, give_role, looked_up
from annotation.models import SignInIdentity

LONGEST_NAME: Final = 100
LONGEST_SUBJECT: Final = 255
MAX_GROUPS: Final = 2000


class NotAdmitted(Exception):
    """The provider vouches for the person, but the workbench does not let them in; the message says why."""


@dataclass(frozen=True)
class AdmissionRules:
    """Whom a provider's word lets in: `roles` by group, and `unknown` for people in none of these groups."""

    claim: str
    roles: Mapping[str, Role]
    unknown: Role | None

    def role_of(self, claims: Mapping[str, Any]) -> Role | None:
        """The highest role that the person's groups give, else that of unknown people."""
        held = [self.roles[group] for group in groups_of(claims, self.claim) if group in self.roles]
        return max(held, key=RANK.__getitem__) if held else self.unknown


@dataclass(frozen=True)
class Admitted:
    """The account, and what of it the sign-in changed."""

    user: User
    made: bool
    role: Role | None
    role_before: Role | None


def groups_of(claims: Mapping[str, Any], claim: str) -> Collection[str]:
    """The texts of a claim, which may be one text or a list; a path with dots leads into nested claims.

    >>> groups_of({"realm_access": {"roles": ["a", 1, "b"]}}, "realm_access.roles")
    ['a', 'b']
    """
    found: Any = claims.get(claim)
    if found is None and "." in claim:
        found = claims
        for name in claim.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
    listed = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    return [group for group in listed[:MAX_GROUPS] if isinstance(group, str)]


def admit_person(issuer: str, claims: Mapping[str, Any], rules: AdmissionRules) -> Admitted:
    """The account of the person whom verified `claims` describe; made where the rules let unknown people in.

    Where groups give roles, the provider's word counts at each sign-in: who left all groups loses the role.
    Raises NotAdmitted.
    """
    subject = subject_of(claims)
    with transaction.atomic():
        identity = (
            SignInIdentity.objects.select_related("user").filter(issuer=issuer, subject=subject).first()
        )
        if identity is None:
            return admit_unknown(issuer, subject, claims, rules)
        user = identity.user
        if not user.is_active:
            raise NotAdmitted("Your account is closed. Ask an admin of the workbench.")
        before = looked_up(user)
        role = before
        if rules.roles:
            role = rules.role_of(claims)
            if role is None:
                raise NotAdmitted(NO_GROUP)
            if role is not before:
                user.is_superuser = False
                user.save(update_fields=["is_superuser"])
                give_role(user, role)
        SignInIdentity.objects.filter(pk=identity.pk).update(last_used_at=timezone.now())
        return Admitted(user, False, role, before)


NO_GROUP: Final = (
    "You are signed in at your provider, but none of your groups has a role in the workbench. "
    "Ask an admin of it."
)


def admit_unknown(issuer: str, subject: str, claims: Mapping[str, Any], rules: AdmissionRules) -> Admitted:
    """A new account without a password. It is never one that was there: a name or an e-mail is no proof."""
    role = rules.role_of(claims)
    if role is None:
        raise NotAdmitted(
            NO_GROUP
            if rules.roles
            else "You are signed in at your provider, but have no account here. Ask an admin of the "
            "workbench for one, log in with its password, and connect the sign-in under Change password."
        )
    user = User(username=find_free_name(claims, subject), email=verified_email_of(claims))
    user.set_unusable_password()
    user.save()
    give_role(user, role)
    SignInIdentity.objects.create(user=user, issuer=issuer, subject=subject, last_used_at=timezone.now())
    return Admitted(user, True, role, None)


def connect_identity(user: User, issuer: str, claims: Mapping[str, Any]) -> None:
    """Let the person, who is logged in, sign in by the provider from now on. Raises NotAdmitted."""
    subject = subject_of(claims)
    found, made = SignInIdentity.objects.get_or_create(
        issuer=issuer, subject=subject, defaults={"user": user}
    )
    if not made and found.user_id != user.pk:
        raise NotAdmitted("This sign-in belongs to another account of the workbench.")


def subject_of(claims: Mapping[str, Any]) -> str:
    """The provider's lasting name of the person. Raises NotAdmitted where it is none that can be kept."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or "\x00" in subject:
        raise NotAdmitted("The provider gave no usable subject (sub). Ask the admin of the provider.")
    return subject


def verified_email_of(claims: Mapping[str, Any]) -> str:
    """The e-mail that the provider verified, or none."""
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        return ""
    try:
        validate_email(email)
    except ValidationError:
        return ""
    return email[:254]


def find_free_name(claims: Mapping[str, Any], subject: str) -> str:
    """A name for a new account, after what the provider calls the person; numbered where it is taken."""
    email = str(claims.get("email") or "").partition("@")[0]
    wanted = next((name for name in (claims.get("preferred_username"), email) if usable_name(name)), subject)
    base = usable_name(wanted) or "person"
    name, number = base, 1
    while User.objects.filter(username__iexact=name).exists():
        number += 1
        name = f"{base}-{number}"
    return name


def usable_name(given: object) -> str:
    """What of `given` a name may have.

    >>> usable_name("Ann Smith <a>"), usable_name(None)
    ('AnnSmitha', '')
    """
    name = re.sub(r"[^\w.@+-]", "", given)[:LONGEST_NAME] if isinstance(given, str) else ""
    try:
        UnicodeUsernameValidator()(name)
    except ValidationError:
        return ""
    return name
