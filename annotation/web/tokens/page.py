"""The page of API tokens: the form that makes one, and those that there are."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.accounts.roles import Role, has_role
from annotation.models import ApiToken
from annotation.studies.audit_log import Verb, append_audit_event
from retrieval.texts.hostile import mark_hostile_characters

MOST_DAYS: Final = 3650
MOST_TOKENS: Final = 50
SHOWN: Final = 200


class TokenForm(forms.Form):
    """A token of one's own account."""

    name = forms.CharField(max_length=80, label="Name", help_text="Where it is used, such as laptop.")
    scope = forms.ChoiceField(
        choices=ApiToken.Scope.choices,
        initial=ApiToken.Scope.READ,
        label="May",
        help_text="Never more than your account may.",
    )
    days = forms.IntegerField(min_value=1, max_value=MOST_DAYS, label="Days until it ends")

    def __init__(self, user: User, data: Any = None) -> None:
        super().__init__(data, initial={"days": settings.TOKEN_DAYS})
        self.user = user

    def clean_name(self) -> str:
        name = mark_hostile_characters(self.cleaned_data["name"]).strip()
        if ApiToken.objects.filter(user=self.user, name=name).exists():
            raise forms.ValidationError("You have a token of this name: choose another name.")
        return name

    def clean(self) -> dict[str, Any]:
        if ApiToken.objects.filter(user=self.user).count() >= MOST_TOKENS:
            self.add_error(None, f"You have {MOST_TOKENS} tokens: withdraw one first.")
        return self.cleaned_data

    def make(self) -> str:
        """The secret of the new token of a valid form."""
        values = self.cleaned_data
        with transaction.atomic():
            _, secret = ApiToken.objects.issue(self.user, values["name"], values["days"], values["scope"])
            append_audit_event(self.user, Verb.TOKEN_MADE, f"token {values['name']} of {self.user}")
        return secret


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """The tokens that the person may withdraw: their own, an admin everybody's; own ones come first."""
    rows = ApiToken.objects.select_related("user")
    return rows if has_role(user, Role.ADMIN) else rows.filter(user=user)


def withdraw_token(user: User, pk: int) -> ApiToken | None:
    """The token that is gone now; None where the person may withdraw none of this id."""
    with transaction.atomic():
        found = tokens_of(user).filter(pk=pk).first()
        if found is None:
            return None
        ApiToken.objects.filter(pk=pk).delete()
        append_audit_event(user, Verb.TOKEN_WITHDRAWN, f"token {found.name} of {found.user}")
    return found


def tokens_page(user: User) -> dict[str, Any]:
    now = timezone.now()
    rows = list(tokens_of(user).order_by("user__username", "name")[:SHOWN])
    rows.sort(key=lambda token: token.user_id != user.pk)
    return {
        "tokens": [{"token": token, "ended": token.expires_at <= now} for token in rows],
        "of_all": has_role(user, Role.ADMIN),
    }
