"""People and invitations, as pages show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from annotation.accounts.roles import RANK, Role, find_highest_role
from annotation.models import ApiToken, Build, Enrolment, Invitation
from annotation.web.people.forms import PeopleFilter
from annotation.web.shared.pagination import Window, load_page_window

PAGE_SIZE: Final = 50
MOST_INVITATIONS: Final = 50


@dataclass(frozen=True)
class PersonRow:
    """One line of the list."""

    user: User
    role: Role | None


def people_page(params: QueryDict) -> dict[str, Any]:
    """The people that the filter leaves, by name, and the newest invitations."""
    form = PeopleFilter(params)
    chosen = form.cleaned_data if form.is_valid() else {}
    found: Window[User] = load_page_window(find_people(chosen), ("username",), params, PAGE_SIZE)
    return {
        "form": form,
        "is_filtered": any(chosen.values()),
        "rows": [PersonRow(user, held_role(user)) for user in found.rows],
        "previous": found.previous,
        "next": found.next,
        "invitations": Invitation.objects.select_related("created_by", "accepted_by")[:MOST_INVITATIONS],
    }


def find_people(chosen: dict[str, Any]) -> QuerySet[User]:
    """The accounts that the filter leaves, each with what it has in numbers.

    Not its labels: how many there are would tell a rater that somebody changed one.
    """
    rows = User.objects.prefetch_related("groups").annotate(
        build_count=count_of(Build.objects.filter(created_by=OuterRef("pk")), "created_by"),
        study_count=count_of(Enrolment.objects.filter(user=OuterRef("pk")), "user"),
    )
    words = chosen.get("q", "").replace("\x00", "").strip()
    if words:
        rows = rows.filter(Q(username__icontains=words) | Q(email__icontains=words))
    if chosen.get("state"):
        rows = rows.filter(is_active=chosen["state"] == "open")
    return rows.filter(has_highest_role(chosen["role"])) if chosen.get("role") else rows


def count_of(rows: QuerySet[Any], by: str) -> Coalesce:
    """How many of `rows` there are for each person, by a subquery that reads an index."""
    return Coalesce(Subquery(rows.order_by().values(by).annotate(number=Count("pk")).values("number")), 0)


def has_highest_role(wanted: str) -> Q:
    """Whether a person's highest role is this one; `none` for people without any."""
    in_group = {name: Q(pk__in=User.objects.filter(groups__name=name).values("pk")) for name in RANK}
    is_admin = Q(is_superuser=True) | in_group[Role.ADMIN]
    if wanted == Role.ADMIN:
        return is_admin
    condition = ~is_admin & (in_group[wanted] if wanted in RANK else Q())
    rank = RANK.get(wanted, -1)
    for name in RANK:
        if RANK[name] > rank and name != Role.ADMIN:
            condition &= ~in_group[name]
    return condition


def held_role(user: User) -> Role | None:
    """The role of an account, also of a closed one; its groups were read with it."""
    return find_highest_role(user, [group.name for group in user.groups.all()])


def person_page(user: User) -> dict[str, Any]:
    """One account: how it logs in, and what it has."""
    return {
        "user": user,
        "role": held_role(user),
        "has_password": user.has_usable_password(),
        "identities": user.identities.order_by("pk"),
        "tokens": ApiToken.objects.filter(user=user).count(),
        "builds": Build.objects.filter(created_by=user).count(),
        "studies": Enrolment.objects.filter(user=user).select_related("study").order_by("-pk"),
    }


def password_link(request: HttpRequest, user: User) -> str:
    """A link with which the owner of an account sets a password, once; Django signs it."""
    word = urlsafe_base64_encode(force_bytes(user.pk))
    token = default_token_generator.make_token(user)
    return request.build_absolute_uri(reverse("password_reset_confirm", args=[word, token]))
