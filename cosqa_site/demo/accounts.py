"""The demo's accounts: one a role and a rater, with random passwords, printed and noted for the owner."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User

from annotation.accounts.roles import Role, give_role

EXPERT = Role.EXPERT.value
RATER = "rater"


@dataclass(frozen=True)
class Account:
    """An account of the demo; `password` is empty where it was made or changed by somebody else."""

    name: str
    password: str


def demo_accounts() -> list[Account]:
    """`admin`, `expert`, `reader` and `rater`; one that exists keeps its password, read from the note.

    `rater` is an expert of its own: whoever rates in a study is kept from the build that it was drawn from.
    """
    path = Path(settings.COSQA_HOME) / "demo-accounts.txt"
    noted = dict(line.split(" ", 1) for line in path.read_text().splitlines()) if path.exists() else {}
    roles = {role.value: role for role in reversed(Role)} | {RATER: Role.EXPERT}
    accounts = [ensure_demo_account(name, role, noted.get(name)) for name, role in roles.items()]
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.writelines(f"{a.name} {a.password}\n" for a in accounts if a.password)
    return accounts


def ensure_demo_account(name: str, role: Role, noted: str | None) -> Account:
    """The account of that name; a password that is not the noted one is left as it is."""
    user, made = User.objects.get_or_create(username=name)
    password = noted or secrets.token_urlsafe(9)
    if made:
        user.set_password(password)
        user.save()
        give_role(user, role)
    elif not user.check_password(password):
        password = ""
    return Account(name, password)
