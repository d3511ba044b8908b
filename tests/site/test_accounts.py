"""The demo's accounts: what is printed lets people in."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from pytest_django import Settings

from annotation.accounts.roles import Role
from cosqa_site.demo.accounts import Account, demo_accounts
from cosqa_site.management.commands.demo import describe_password

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.COSQA_HOME = tmp_path
    return tmp_path


def admitted(account: Account) -> bool:
    return authenticate(username=account.name, password=account.password) is not None


def test_there_is_one_account_a_role_and_a_rater_and_their_passwords_stay() -> None:
    made = demo_accounts()
    assert [account.name for account in made] == ["admin", "expert", "reader", "rater"]
    assert all(admitted(account) for account in made)
    assert demo_accounts() == made


def test_only_the_owner_can_read_the_note(home: Path) -> None:
    demo_accounts()
    assert (home / "demo-accounts.txt").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("lost", [True, False])
def test_a_password_that_is_not_known_is_never_printed(home: Path, lost: bool) -> None:
    demo_accounts()
    if lost:
        (home / "demo-accounts.txt").unlink()
    else:
        for user in User.objects.all():
            user.set_password("changed by its owner")
            user.save()
    again = demo_accounts()
    assert [account.password for account in again] == ["", "", "", ""]
    assert "account admin --new-password" in describe_password(again[0])
    assert User.objects.count() == len(Role) + 1
