"""What an admin fills in about people, and what an invited person does."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm, UserCreationForm
from django.contrib.auth.models import User

from annotation.accounts.invitations import MAX_DAYS, USUAL_DAYS
from annotation.accounts.roles import Role

RIGHTS: Final = {
    Role.READER: "reads builds, benchmarks and reports",
    Role.EXPERT: "also reviews pairs and rates in studies",
    Role.ADMIN: "also launches builds, spends money and manages people",
}
STATES: Final = (("", "open and closed"), ("open", "open"), ("closed", "closed"))


def role_field(**given: Any) -> forms.ChoiceField:
    choices = [(role.value, f"{role.value}: {rights}") for role, rights in RIGHTS.items()]
    return forms.ChoiceField(choices=choices, label="Role", **given)


def email_field(help_text: str) -> forms.EmailField:
    return forms.EmailField(required=False, max_length=254, label="E-mail", help_text=help_text)


class PeopleFilter(forms.Form):
    """Who is on the list."""

    q = forms.CharField(required=False, max_length=150, label="Name or e-mail")
    role = forms.ChoiceField(
        required=False,
        choices=[("", "any"), *((role.value, role.value) for role in Role), ("none", "none")],
        label="Role",
    )
    state = forms.ChoiceField(required=False, choices=STATES, label="Account")


class AccountForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's own has no parameter
    """A new account without a password: its owner sets one with a link."""

    role = role_field(initial=Role.EXPERT.value)

    class Meta:
        model = User
        fields = ("username", "email")
        labels = {"username": "Username", "email": "E-mail"}
        help_texts = {"email": "For a new password by e-mail. It is shown to admins alone."}

    clean_username = UserCreationForm.clean_username
    """It refuses a name that differs from another one by capital letters alone."""

    field_order = ("username", "role", "email")

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit=False)
        user.set_unusable_password()
        if commit:
            user.save()
        return user


class InvitationForm(forms.Form):
    """Whom an admin invites."""

    role = role_field(initial=Role.EXPERT.value)
    name = forms.CharField(
        required=False, max_length=150, label="For", help_text="A note for the list, such as a person’s name."
    )
    email = email_field("")
    days = forms.IntegerField(
        min_value=1,
        max_value=MAX_DAYS,
        initial=USUAL_DAYS,
        label="Days",
        help_text="The link ends after them.",
    )

    def __init__(self, *args: Any, can_mail: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].help_text = (
            "The link is mailed there, too."
            if can_mail
            else "No mail server is set, so you pass the link on."
        )


class RoleForm(forms.Form):
    role = role_field()


class EmailForm(forms.Form):
    email = email_field("For a new password by e-mail.")


class JoinForm(UserCreationForm):  # type: ignore[type-arg]
    """Name and password of an invited person."""

    class Meta(BaseUserCreationForm.Meta):
        model = User
        fields = ("username",)
