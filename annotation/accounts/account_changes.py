"""What an admin may change of other people's accounts. Nobody is deleted: labels keep their author."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from annotation.accounts.roles import Role, find_highest_role, give_role


class AccountChangeRefused(Exception):
    """Nothing was changed; the message says why."""


def change_role(by: User, user: User, role: Role) -> None:
    """Make `role` the only role. Raises AccountChangeRefused."""
    with transaction.atomic():
        changed = lock_for_change(by, user)
        if changed.is_superuser:  # a superuser has every right, so another role would mean nothing
            changed.is_superuser = False
            changed.save(update_fields=["is_superuser"])
        give_role(changed, role)


def set_account_open(by: User, user: User, is_open: bool) -> None:
    """Let a person in again, or close the account, its sessions and tokens.

    Raises AccountChangeRefused.
    """
    with transaction.atomic():
        changed = lock_for_change(by, user)
        changed.is_active = is_open
        changed.save(update_fields=["is_active"])


def lock_for_change(by: User, user: User) -> User:
    """The account, locked together with the admin's: two admins can't take the role from each other at once.

    Raises AccountChangeRefused for one's own account, so an admin is always left.
    """
    if by.pk == user.pk:
        raise AccountChangeRefused("You can't change this of your own account. Ask another admin.")
    rows = {
        row.pk: row for row in User.objects.select_for_update().filter(pk__in=(by.pk, user.pk)).order_by("pk")
    }
    admin, changed = rows[by.pk], rows[user.pk]
    groups = admin.groups.values_list("name", flat=True)
    if not admin.is_active or find_highest_role(admin, groups) is not Role.ADMIN:
        raise AccountChangeRefused("You are no admin any more, so nothing was changed.")
    return changed
