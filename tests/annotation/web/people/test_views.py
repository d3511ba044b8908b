"""People: who is listed, what an admin changes, and links that work once."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from annotation.accounts.account_changes import AccountChangeRefused, set_account_open
from annotation.accounts.roles import Role, give_role, role_of
from annotation.models import ApiToken, AuditEvent, Invitation, SignInIdentity
from tests import factories, studies

pytestmark = pytest.mark.django_db

STRONG = "a long and strange one"
LINK = re.compile(r"https?://testserver(/[^<\s]+)")


def path_of_link(page: bytes) -> str:
    found = LINK.search(page.decode())
    assert found, "the page shows the link"
    return found[1]


def rows(client: Client, **query: str) -> list[str]:
    page = client.get("/people/", query).content.decode().partition("Invitations</h2>")[0]
    return re.findall(r'<a href="/people/\d+/">(\w+)</a>', page)


def fresh(user: User) -> User:
    """As the next request reads it: roles are looked up once for each object."""
    return User.objects.get(pk=user.pk)


def invite(ada: Client, **fields: object) -> str:
    """The path of a new invitation's link."""
    sent = {"role": "expert", "name": "Zoe", "email": "", "days": "7", **fields}
    return path_of_link(ada.post("/people/invite/", sent).content)


def join(path: str, name: str = "zoe", password: str = STRONG) -> tuple[Client, int]:
    client = Client()
    sent = {"username": name, "password1": password, "password2": password}
    return client, client.post(path, sent).status_code


def verbs() -> list[str]:
    return list(AuditEvent.objects.order_by("pk").values_list("verb", flat=True))


def test_the_list_is_searched_and_filtered(ada: Client) -> None:
    factories.erin()
    factories.nora()
    User.objects.filter(pk=factories.ray().pk).update(is_active=False, email="r@example.org")
    root = User.objects.create(username="root", is_superuser=True)
    root.groups.add(*factories.erin().groups.all())
    assert rows(ada) == ["ada", "erin", "nora", "ray", "root"]
    assert rows(ada, q="EXAMPLE") == ["ray"]
    assert rows(ada, role="expert") == ["erin"], "root is a superuser, so an admin"
    assert rows(ada, role="admin") == ["ada", "root"]
    assert rows(ada, role="none") == ["nora"]
    assert rows(ada, state="closed") == rows(ada, role="reader") == ["ray"]
    assert "Nobody matches" in ada.get("/people/?q=zzzz").content.decode()


def test_the_list_counts_what_people_have(ada: Client) -> None:
    build = factories.launched("a build")
    build.created_by = factories.erin()
    build.save()
    study = studies.study()
    studies.rater("erin", study)
    line = ada.get("/people/?q=erin").content.decode().partition("<tbody>")[2]
    assert re.findall(r'class="num">(\d+)<', line) == ["1", "1"]


def test_a_new_account_sets_its_password_by_the_link_once(ada: Client) -> None:
    made = ada.post("/people/new/", {"username": "zoe", "role": "expert", "email": "z@example.org"})
    zoe = User.objects.get(username="zoe")
    assert (role_of(zoe), zoe.has_usable_password()) == (Role.EXPERT, False)
    path, browser = path_of_link(made.content), Client()
    form = browser.get(path)
    sent = {"new_password1": STRONG, "new_password2": STRONG}
    assert browser.post(form["Location"], sent)["Location"] == "/password/new/done/"
    assert Client().login(username="zoe", password=STRONG)
    assert b"can\xe2\x80\x99t be used" in Client().get(path).content
    assert verbs()[-1] == "account changed"


@pytest.mark.parametrize("name", ["ADA", "two words", ""])
def test_a_name_that_is_taken_or_no_name_is_refused(ada: Client, name: str) -> None:
    assert ada.post("/people/new/", {"username": name, "role": "expert"}).status_code == 422
    assert User.objects.count() == 1


def test_a_role_is_changed_and_kept_in_the_log(ada: Client) -> None:
    erin = factories.erin()
    ada.post(f"/people/{erin.pk}/change/", {"action": "role", "role": "admin"})
    assert role_of(fresh(erin)) is Role.ADMIN
    event = AuditEvent.objects.latest("pk")
    assert (event.what, event.detail) == ("account erin", {"role": "admin", "role_before": "expert"})


def test_a_closed_account_loses_sessions_and_tokens_at_once_and_is_opened_again(ada: Client) -> None:
    erin = factories.erin()
    hers = Client()
    hers.force_login(erin)
    ApiToken.objects.issue(erin, "t")
    assert b"end at once" in ada.get(f"/people/{erin.pk}/change/?action=close").content
    ada.post(f"/people/{erin.pk}/change/", {"action": "close"})
    assert hers.get("/work/")["Location"] == "/login/?next=/work/"
    assert (ApiToken.objects.count(), Session.objects.count()) == (0, 1)
    assert not Client().login(username="erin", password=factories.PASSWORD)
    ada.post(f"/people/{erin.pk}/change/", {"action": "open"})
    assert Client().login(username="erin", password=factories.PASSWORD)


@pytest.mark.parametrize("sent", [{"action": "close"}, {"action": "role", "role": "reader"}])
def test_nobody_shuts_themselves_out(ada: Client, sent: dict[str, str]) -> None:
    me = factories.ada()
    said = ada.post(f"/people/{me.pk}/change/", sent, follow=True)
    assert b"Ask another admin" in said.content
    assert (role_of(fresh(me)), fresh(me).is_active) == (Role.ADMIN, True)


def test_an_admin_who_was_closed_meanwhile_changes_nothing() -> None:
    ada, bob = factories.ada(), factories.person("bob", Role.ADMIN)
    set_account_open(ada, bob, False)
    with pytest.raises(AccountChangeRefused, match="no admin any more"):
        set_account_open(bob, ada, False)
    assert fresh(ada).is_active


def test_a_superuser_who_is_made_a_reader_is_one(ada: Client) -> None:
    root = User.objects.create(username="root", is_superuser=True)
    ada.post(f"/people/{root.pk}/change/", {"action": "role", "role": "reader"})
    assert role_of(fresh(root)) is Role.READER


def test_an_e_mail_is_checked_and_stored(ada: Client) -> None:
    erin = factories.erin()
    refused = ada.post(f"/people/{erin.pk}/change/", {"action": "email", "email": "no address"})
    assert refused.status_code == 422
    ada.post(f"/people/{erin.pk}/change/", {"action": "email", "email": "e@example.org"})
    assert fresh(erin).email == "e@example.org"


def test_a_sign_in_of_a_provider_is_removed(ada: Client) -> None:
    erin = factories.erin()
    identity = SignInIdentity.objects.create(user=erin, issuer="https://id.example.org", subject="e1")
    assert b"e1 at https://id.example.org" in ada.get(f"/people/{erin.pk}/").content
    ada.post(f"/people/{erin.pk}/change/", {"action": "disconnect", "identity": str(identity.pk)})
    assert not SignInIdentity.objects.exists()


def test_a_password_link_ends_all_sessions_and_is_dead_for_a_closed_account(ada: Client) -> None:
    erin = factories.erin()
    path = path_of_link(ada.post(f"/people/{erin.pk}/change/", {"action": "reset"}).content)
    hers, browser = Client(), Client()
    hers.force_login(erin)
    erin.refresh_from_db()
    path = path_of_link(ada.post(f"/people/{erin.pk}/change/", {"action": "reset"}).content)
    form = browser.get(path)["Location"]
    User.objects.filter(pk=erin.pk).update(is_active=False)
    assert b"can\xe2\x80\x99t be used" in browser.get(form).content
    User.objects.filter(pk=erin.pk).update(is_active=True)
    weak = browser.post(form, {"new_password1": "short", "new_password2": "short"})
    assert b"too short" in weak.content
    browser.post(form, {"new_password1": STRONG, "new_password2": STRONG})
    assert hers.get("/work/")["Location"] == "/login/?next=/work/"
    assert Client().login(username="erin", password=STRONG)


def test_a_password_link_ends(ada: Client, settings: Settings) -> None:
    erin = factories.erin()
    path = path_of_link(ada.post(f"/people/{erin.pk}/change/", {"action": "reset"}).content)
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert b"can\xe2\x80\x99t be used" in Client().get(path).content


def test_an_invitation_makes_one_account_with_its_role(ada: Client) -> None:
    path = invite(ada)
    assert b"You are invited as <strong>expert</strong>" in Client().get(path).content
    browser, status = join(path)
    assert (status, browser.get("/work/").status_code) == (302, 200), "the person is logged in"
    assert role_of(User.objects.get(username="zoe")) is Role.EXPERT
    assert join(path, "second")[1] == 404
    assert not User.objects.filter(username="second").exists()
    assert "accepted by" in ada.get("/people/").content.decode()
    assert verbs() == ["invitation made", "invitation accepted", "logged in"]


def test_the_secret_of_an_invitation_is_not_stored_and_a_forged_one_not_looked_up(ada: Client) -> None:
    path = invite(ada)
    word = path.split("/")[2]
    assert word.split(":")[0] not in str(Invitation.objects.values().get())
    assert Client().get(f"/join/{word[:-1]}/").status_code == 404
    assert Client().get(f"/join/{word.split(':')[0]}/").status_code == 404


@pytest.mark.parametrize("password", ["short", "1234567890", "marguerite"])
def test_a_weak_password_is_refused_and_the_invitation_stays(ada: Client, password: str) -> None:
    path = invite(ada)
    assert join(path, "marguerite", password)[1] == 422
    assert join(path)[1] == 302


def test_a_name_that_differs_by_capitals_alone_is_taken(ada: Client) -> None:
    assert join(invite(ada), "ADA")[1] == 422


def test_an_invitation_is_revoked_and_says_so(ada: Client) -> None:
    path = invite(ada)
    revoked = ada.post(f"/people/invitations/{Invitation.objects.get().pk}/revoke/", follow=True)
    assert b"its link lets nobody in" in revoked.content
    assert join(path)[1] == 404
    again = ada.post(f"/people/invitations/{Invitation.objects.get().pk}/revoke/", follow=True)
    assert b"used or revoked already" in again.content


def test_an_invitation_ends_after_its_days_and_with_the_role_of_its_admin(ada: Client) -> None:
    path = invite(ada)
    assert Client().get(path).status_code == 200
    give_role(factories.ada(), Role.EXPERT)
    assert Client().get(path).status_code == 404, "who is no admin any more has no open links"
    give_role(factories.ada(), Role.ADMIN)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert join(path)[1] == 404
    assert "expired" in ada.get("/people/").content.decode()


def test_whoever_is_logged_in_makes_no_second_account_by_mistake(ada: Client) -> None:
    path = invite(ada)
    sent = {"username": "zoe", "password1": STRONG, "password2": STRONG}
    assert b"log out first" in ada.post(path, sent).content
    assert not User.objects.filter(username="zoe").exists()


def test_an_invitation_is_mailed_where_a_server_is_set(ada: Client, settings: Settings) -> None:
    invite(ada, email="z@example.org")
    assert mail.outbox == [], "no server is set"
    settings.MAIL_IS_SET = True
    path = invite(ada, email="z@example.org")
    assert [message.to for message in mail.outbox] == [["z@example.org"]]
    assert path in mail.outbox[0].body
    join(path)
    assert User.objects.get(username="zoe").email == "z@example.org"


def test_a_mail_that_can_not_be_sent_is_said_and_the_link_is_there(ada: Client, settings: Settings) -> None:
    settings.MAIL_IS_SET = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    sent = {"role": "expert", "name": "", "email": "z@example.org", "days": "7"}
    page = ada.post("/people/invite/", sent).content
    assert b"could not be sent" in page and path_of_link(page)


def test_links_do_not_carry_a_host_that_anybody_may_name(ada: Client, settings: Settings) -> None:
    settings.MAIL_IS_SET, settings.ALLOWED_HOSTS = True, ["*"]
    invite(ada, email="z@example.org")
    assert mail.outbox == []
    assert configured.ALLOWED_HOSTS == ["*"]


def test_a_new_study_leads_to_people_where_nobody_can_be_chosen(ada: Client) -> None:
    page = ada.get("/studies/new/").content.decode()
    assert "There is nobody to choose" in page
    assert 'href="/people/new/"' in page and 'href="/people/invite/"' in page
