"""`manage.py token`: bearer tokens, shown once, listed and withdrawn."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from annotation.models import ApiToken
from tests import factories

pytestmark = pytest.mark.django_db


def token(*args: str) -> str:
    said = io.StringIO()
    call_command("token", *args, stdout=said, stderr=io.StringIO())
    return said.getvalue()


def status(secret: str) -> int:
    return Client(headers={"authorization": f"Bearer {secret}"}).get("/api/me").status_code


def test_what_is_printed_is_the_secret_and_nothing_else() -> None:
    factories.ray()
    assert status(token("ray", "--name", "laptop").strip()) == 200


def test_withdrawing_ends_it_at_once() -> None:
    factories.ray()
    laptop, server = token("ray", "--name", "laptop").strip(), token("ray", "--name", "server").strip()
    token("ray", "--revoke", "laptop")
    assert (status(laptop), status(server)) == (401, 200)


def test_the_list_shows_names_and_dates_and_no_secret() -> None:
    factories.ray()
    secret = token("ray", "--name", "laptop").strip()
    listed = token("ray", "--list")
    assert "laptop" in listed
    assert "never" in listed
    assert secret not in listed
    assert ApiToken.objects.get().digest not in listed


@pytest.mark.parametrize("name", ["", "n" * 81])
def test_a_token_needs_a_name(name: str) -> None:
    factories.ray()
    with pytest.raises(CommandError, match="1 to 80"):
        token("ray", "--name", name)


def test_a_token_of_nobody_or_of_somebody_without_a_role_would_be_refused() -> None:
    factories.nora()
    with pytest.raises(CommandError, match="no account 'zoe'"):
        token("zoe", "--name", "laptop")
    with pytest.raises(CommandError, match="no role"):
        token("nora", "--name", "laptop")
    assert not ApiToken.objects.exists()


def test_withdrawing_what_is_not_there_says_so() -> None:
    factories.ray()
    with pytest.raises(CommandError, match="no token called 'laptop'"):
        token("ray", "--revoke", "laptop")


def test_a_token_works_for_the_days_of_the_setting_or_those_asked_for(settings: Settings) -> None:
    settings.TOKEN_DAYS = 30
    factories.ray()
    token("ray", "--name", "laptop")
    token("ray", "--name", "server", "--days", "2")
    now, ends = timezone.now(), dict(ApiToken.objects.values_list("name", "expires_at"))
    found = {name: round((end - now) / timedelta(days=1)) for name, end in ends.items()}
    assert found == {"laptop": 30, "server": 2}


def test_an_expired_token_is_refused_and_listed_as_such() -> None:
    factories.ray()
    secret = token("ray", "--name", "laptop").strip()
    ApiToken.objects.update(expires_at=timezone.now())
    assert status(secret) == 401
    assert "expired" in token("ray", "--list")


@pytest.mark.parametrize("days", ["0", "-1", "3651"])
def test_a_token_works_for_one_day_at_least_and_ten_years_at_most(days: str) -> None:
    factories.ray()
    with pytest.raises(CommandError, match="1 to 3650"):
        token("ray", "--name", "laptop", "--days", days)


def test_that_there_is_none_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    factories.ray()
    call_command("token", "ray", "--list")
    assert capsys.readouterr() == ("", "ray has no tokens.\n")
