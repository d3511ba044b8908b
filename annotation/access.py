"""Who may do what: three roles as Django groups, and the one predicate of which builds a person may see."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseBase

from annotation.models import Build

Visitor = AbstractBaseUser | AnonymousUser
P = ParamSpec("P")


class Role(StrEnum):
    """From the fewest rights to the most; each role may do what those before it may."""

    READER = "reader"
    EXPERT = "expert"
    ADMIN = "admin"


RANK = {role.value: rank for rank, role in enumerate(Role)}


def role_of(user: Visitor) -> Role | None:
    """The highest role of `user`; superusers are admins; None for people without one.

    Looked up once for each user object, that is, once a request: pages ask for it many times.
    """
    if not isinstance(user, User) or not user.is_active:
        return None
    known: dict[str, Role | None] = user.__dict__
    if "workbench_role" not in known:
        known["workbench_role"] = looked_up(user)
    return known["workbench_role"]


def looked_up(user: User) -> Role | None:
    if user.is_superuser:
        return Role.ADMIN
    held = [name for name in user.groups.values_list("name", flat=True) if name in RANK]
    return Role(max(held, key=RANK.__getitem__)) if held else None


def has_role(user: Visitor, wanted: Role) -> bool:
    """Whether `user` may do what `wanted` may."""
    held = role_of(user)
    return held is not None and RANK[held] >= RANK[wanted]


def needs(
    wanted: Role,
) -> Callable[
    [Callable[Concatenate[HttpRequest, P], HttpResponseBase]],
    Callable[Concatenate[HttpRequest, P], HttpResponseBase],
]:
    """Refuse a view to people without the role; on the server, whatever the template shows."""

    def decorate(
        view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
    ) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not has_role(request.user, wanted):
                raise PermissionDenied(f"This page is for the role {wanted}; ask an admin for it.")
            return view(request, *args, **kwargs)

        return guarded

    return decorate


def give_role(user: User, role: Role) -> None:
    """Make `role` the only role of `user`."""
    user.groups.remove(*Group.objects.filter(name__in=RANK))
    user.groups.add(Group.objects.get_or_create(name=role.value)[0])
    user.__dict__.pop("workbench_role", None)


def builds_visible_to(user: Visitor) -> QuerySet[Build]:
    """The builds that `user` may know of: every QuerySet of builds, cases and labels starts here.

    Jobs that write functions for missing queries are no part of them, see `jobs_visible_to`.
    """
    known = Build.objects.all() if has_role(user, Role.READER) else Build.objects.none()
    return known.filter(filling__isnull=True)


def jobs_visible_to(user: Visitor) -> QuerySet[Build]:
    """Those builds and the jobs that write for them: for whoever watches, stops or pays for either."""
    known = builds_visible_to(user)
    return Build.objects.filter(Q(pk__in=known) | Q(filling__of__in=known))
