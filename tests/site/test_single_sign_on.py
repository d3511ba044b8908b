"""Sign-in by a real identity provider, which runs in a process of its own (tests/identity_provider.py)."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import pytest
import requests
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from pytest_django import Settings

from annotation.accounts import logins
from annotation.accounts.roles import Role, give_role, role_of
from annotation.models import AuditEvent, SignInIdentity
from cosqa_site.accounts import single_sign_on
from tests import factories
from tests.identity_provider import CLIENT_ID, CLIENT_SECRET, PASSWORD, Provider, running_provider

pytestmark = pytest.mark.django_db

BACK = "http://testserver/login/provider/back/"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with running_provider(tmp_path_factory.mktemp("provider"), BACK) as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The provider, as the settings name it; groups are as they were."""
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID = running.issuer, CLIENT_ID
    settings.OIDC_CLIENT_SECRET, settings.OIDC_NAME = CLIENT_SECRET, "the lab"
    settings.OIDC_ROLES, settings.OIDC_UNKNOWN = {"lab-admins": "admin", "students": "expert"}, "none"
    monkeypatch.setattr(single_sign_on, "PROVIDER_SECONDS", 60)  # of a busy machine
    single_sign_on.client_of.cache_clear()
    caches["logins"].clear()
    running.set_groups("anna", ["staff", "lab-admins"])
    return running


def log_in_at_provider(address: str, name: str) -> str:
    """The address to which the provider sends the browser back."""
    session = requests.Session()
    while not address.startswith(BACK):
        asked = session.get(address, allow_redirects=False, timeout=30)
        if asked.status_code == 200:  # its log-in page
            goal = urljoin(address, parse_qs(urlsplit(address).query)["next"][0])
            sent = {"username": name, "password": PASSWORD, "next": goal}
            sent["csrfmiddlewaretoken"] = session.cookies["csrftoken"]
            asked = session.post(address, sent, allow_redirects=False, timeout=30)
        assert asked.status_code == 302, asked.text
        address = urljoin(address, asked.headers["Location"])
    return address


def sign_in(name: str, browser: Client | None = None, goal: str = "") -> tuple[Client, Any]:
    """A browser after the whole way there and back, and the last answer."""
    browser = browser or Client()
    begun = browser.get("/login/provider/", {"next": goal} if goal else {})
    assert begun.status_code == 302, begun.content
    return browser, browser.get(log_in_at_provider(begun["Location"], name))


def test_a_person_of_a_group_gets_its_role_and_is_known_by_sub_the_next_time(provider: Provider) -> None:
    browser, back = sign_in("anna", goal="/people/")
    assert back["Location"] == "/people/"
    assert browser.get("/people/").status_code == 200
    anna = User.objects.get(username="anna")
    assert (role_of(anna), anna.email, anna.has_usable_password()) == (Role.ADMIN, "anna@example.org", False)
    User.objects.filter(pk=anna.pk).update(username="renamed")
    _, back = sign_in("anna")
    assert back["Location"] == "/"
    assert User.objects.count() == SignInIdentity.objects.count() == 1
    assert list(AuditEvent.objects.order_by("pk").values_list("verb", flat=True)) == [
        "account changed",
        "logged in",
        "logged in",
    ]


def test_the_request_has_state_nonce_and_pkce_and_no_secret(provider: Provider) -> None:
    asked = parse_qs(urlsplit(Client().get("/login/provider/")["Location"]).query)
    assert {"state", "nonce", "code_challenge"} <= asked.keys()
    assert (asked["code_challenge_method"], asked["redirect_uri"]) == (["S256"], [BACK])
    assert CLIENT_SECRET not in str(asked)


def test_neither_a_name_nor_an_e_mail_leads_into_an_account_that_was_there(provider: Provider) -> None:
    """Emil's provider says an e-mail that is an admin's here; and there is an emil."""
    ada = factories.ada()
    ada.email = "ada@example.org"
    ada.save()
    factories.person("emil", Role.ADMIN)
    browser, _ = sign_in("emil")
    made = SignInIdentity.objects.get().user
    assert (made.username, role_of(made), made.email) == ("emil-2", Role.EXPERT, "")
    assert browser.get("/people/").status_code == 403


def test_unknown_people_are_refused_unless_the_settings_admit_them(
    provider: Provider, settings: Settings
) -> None:
    browser, back = sign_in("gast")
    assert (back.status_code, User.objects.count()) == (403, 0)
    assert "none of your groups has a role" in back.content.decode()
    assert browser.get("/browse/").status_code == 302
    assert AuditEvent.objects.get().verb == "log-in failed"
    settings.OIDC_UNKNOWN = "reader"
    sign_in("gast")
    assert role_of(User.objects.get(username="gast")) is Role.READER


def test_who_leaves_a_group_loses_its_role_at_the_next_sign_in(provider: Provider) -> None:
    sign_in("anna")
    provider.set_groups("anna", ["students"])
    sign_in("anna")
    assert role_of(User.objects.get(username="anna")) is Role.EXPERT
    provider.set_groups("anna", ["staff"])
    _, back = sign_in("anna")
    assert back.status_code == 403


def test_a_closed_account_stays_closed(provider: Provider) -> None:
    browser, _ = sign_in("anna")
    anna = User.objects.get(username="anna")
    anna.is_active = False
    anna.save()
    assert browser.get("/people/")["Location"] == "/login/?next=/people/"
    assert b"Your account is closed" in sign_in("anna")[1].content


def test_without_groups_an_admin_gives_the_role_and_it_stays(provider: Provider, settings: Settings) -> None:
    settings.OIDC_ROLES, settings.OIDC_UNKNOWN = {}, "reader"
    sign_in("anna")
    give_role(User.objects.get(username="anna"), Role.EXPERT)
    sign_in("anna")
    assert role_of(User.objects.get(username="anna")) is Role.EXPERT


def test_somebody_with_a_password_connects_the_sign_in_and_keeps_the_account(
    provider: Provider, settings: Settings
) -> None:
    settings.OIDC_ROLES = {}
    erin = factories.erin()
    assert b"have no account here" in sign_in("gast")[1].content
    hers = Client()
    hers.force_login(erin)
    assert b"Connect the lab" in hers.get("/password/").content
    assert connect("gast", hers)["Location"] == "/password/"
    assert b"You can also sign in with the lab" in hers.get("/password/").content
    browser, _ = sign_in("gast")
    assert browser.get("/work/").status_code == 200
    assert User.objects.count() == 1
    ray = Client()
    ray.force_login(factories.ray())
    assert b"belongs to another account" in connect("gast", ray).content


def connect(name: str, browser: Client) -> Any:
    """The last answer after somebody who is logged in followed the link to connect."""
    page = browser.get("/password/").content.decode()
    link = re.search(r'href="(/login/provider/\?connect=\w+)"', page)
    assert link, "the page has the link"
    return browser.get(log_in_at_provider(browser.get(link[1])["Location"], name))


def test_another_site_can_not_connect_a_sign_in_with_the_account_of_who_is_logged_in(
    provider: Provider,
) -> None:
    """It could log the browser in at the provider as somebody of its own, and then send it to the address."""
    hers, other = Client(), Client()
    hers.force_login(factories.erin())
    other.force_login(factories.ray())
    word = re.search(r"connect=(\w+)", other.get("/password/").content.decode())
    assert word
    for address in ("/login/provider/", f"/login/provider/?connect={word[1]}"):
        assert hers.get(address)["Location"] == "/password/"
    assert not SignInIdentity.objects.exists()


def test_a_password_still_lets_people_in_while_the_provider_is_away(
    provider: Provider, settings: Settings
) -> None:
    ada = factories.ada()
    settings.OIDC_ISSUER = "http://127.0.0.1:9"
    refused = Client().get("/login/provider/")
    assert (refused.status_code, b"log in with a password" in refused.content) == (502, True)
    sent = {"username": ada.username, "password": factories.PASSWORD}
    assert Client().post("/login/", sent).status_code == 302


def test_the_way_back_belongs_to_the_browser_that_began_and_works_once(provider: Provider) -> None:
    victim, attacker = Client(), Client()
    address = log_in_at_provider(attacker.get("/login/provider/")["Location"], "gast")
    assert victim.get(address).status_code == 400, "it did not begin a sign-in"
    victim.get("/login/provider/")
    assert victim.get(address).status_code == 400, "it began another one"
    browser = Client()
    back = log_in_at_provider(browser.get("/login/provider/")["Location"], "anna")
    assert browser.get(back).status_code == 302
    assert browser.get(back).status_code == 400
    assert not User.objects.exclude(username="anna").exists()


def test_what_an_address_says_is_not_shown(provider: Provider) -> None:
    browser = Client()
    browser.get("/login/provider/")
    sent = {"error": "access_denied", "error_description": "Call 555 now", "state": "x"}
    refused = browser.get(f"/login/provider/back/?{urlencode(sent)}")
    assert (refused.status_code, b"(access_denied)" in refused.content) == (403, True)
    assert b"555" not in refused.content


@pytest.mark.parametrize("goal", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_nobody_is_led_to_another_site(provider: Provider, goal: str) -> None:
    assert sign_in("anna", goal=goal)[1]["Location"] == "/"


def test_a_provider_that_calls_itself_otherwise_is_not_asked(provider: Provider, settings: Settings) -> None:
    settings.OIDC_ISSUER = f"{provider.issuer}/"
    assert Client().get("/login/provider/").status_code == 502


def forged(claims: dict[str, Any], key: Any = None, alg: str = "RS256", **left: Any) -> dict[str, Any]:
    return {"claims": claims, "key": key, "alg": alg, **left}


@pytest.mark.parametrize(
    "fault",
    [
        forged({"aud": "another client"}),
        forged({"iss": "https://evil.example"}),
        forged({"nonce": "of another request"}),
        forged({"nonce": None}),
        forged({"exp": 1}),
        forged({}, key="another"),
        forged({}, alg="HS256"),
    ],
    ids=["audience", "issuer", "nonce", "no nonce", "expired", "key", "our secret as key"],
)
def test_a_token_with_a_fault_lets_nobody_in(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, fault: dict[str, Any]
) -> None:
    """The provider's own token lets anna in; the same one with one fault does not."""
    assert answer_to(provider, monkeypatch, forged({})).status_code == 302
    refused = answer_to(provider, monkeypatch, fault)
    assert (refused.status_code, refused.client.get("/browse/").status_code) == (502, 302)
    assert AuditEvent.objects.filter(verb="logged in").count() == 1


@cache
def keys() -> tuple[RSAKey, RSAKey]:
    return RSAKey.generate_key(2048), RSAKey.generate_key(2048)


def answer_to(provider: Provider, monkeypatch: pytest.MonkeyPatch, fault: dict[str, Any]) -> Any:
    """What a browser gets where the token endpoint gives a token that we signed."""
    client = single_sign_on.client_of(provider.issuer, CLIENT_ID, CLIENT_SECRET)
    key, other = keys()
    client.load_server_metadata()["jwks"] = {"keys": [key.as_dict(private=False)]}
    browser = Client()
    asked = parse_qs(urlsplit(browser.get("/login/provider/")["Location"]).query)
    now = int(time.time())
    claims = {"iss": provider.issuer, "aud": CLIENT_ID, "sub": "1", "iat": now, "exp": now + 60}
    claims |= {"nonce": asked["nonce"][0], "groups": ["lab-admins"], "preferred_username": "anna"}
    told = {name: value for name, value in (claims | fault["claims"]).items() if value is not None}
    signer = OctKey.import_key(CLIENT_SECRET) if fault["alg"] == "HS256" else other if fault["key"] else key
    token = jwt.encode({"alg": fault["alg"]}, told, signer, algorithms=[fault["alg"]])
    monkeypatch.setattr(client, "fetch_access_token", lambda **_: {"id_token": token, "token_type": "Bearer"})
    return browser.get(f"/login/provider/back/?code=c&state={asked['state'][0]}")


def test_without_a_provider_there_is_no_button_and_no_route() -> None:
    assert b"Sign in with" not in Client().get("/login/").content
    assert [Client().get(path).status_code for path in ("/login/provider/", "/login/provider/back/")] == [
        404
    ] * 2


def test_the_log_in_page_has_a_button_that_keeps_the_goal(provider: Provider) -> None:
    page = Client().get("/login/?next=/people/").content.decode()
    assert re.search(r'href="/login/provider/\?next=/people/">Sign in with the lab<', page)


def test_strangers_can_not_fill_the_table_of_sessions(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logins, "STARTS_OF_ADDRESS", 2)
    assert [Client().get("/login/provider/").status_code for _ in range(3)] == [302, 302, 429]
