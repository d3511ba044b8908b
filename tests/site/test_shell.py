from __future__ import annotations

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["400.html", "403_csrf.html", "500.html"])
def test_error_pages_need_no_context(name: str) -> None:
    assert "<h1>" in render_to_string(name)


def test_a_page_that_is_not_there_says_so_within_the_frame(ray: Client) -> None:
    answer = ray.get("/nothing/")
    assert answer.status_code == 404
    assert "There is no such page" in answer.content.decode()


def test_a_stranger_can_log_in_and_lands_where_the_role_works(client: Client) -> None:
    factories.ray()
    form = {"username": "ray", "password": factories.PASSWORD}
    assert client.get("/login/").status_code == 200
    answer = client.post("/login/", form, follow=False)
    assert answer["Location"] == reverse("home")
    assert "Data sets and leaderboards" in client.get("/").content.decode()


def test_the_log_in_page_of_an_empty_installation_says_how_the_first_account_is_made(client: Client) -> None:
    page = strip_tags(client.get("/login/").content.decode())
    assert "cosqa admin account NAME --role admin" in page
    factories.ray()
    page = strip_tags(client.get("/login/").content.decode())
    assert "cosqa admin account" not in page and "Ask your admin" in page


def test_a_wrong_password_is_told_without_telling_which_part_was_wrong(client: Client) -> None:
    factories.ray()
    page = client.post("/login/", {"username": "ray", "password": "guess"}).content.decode()
    assert "The name or the password is wrong." in page
    assert 'value="ray"' in page


def test_logging_out_takes_a_form_not_a_link(ray: Client) -> None:
    assert ray.get("/logout/").status_code == 405
    assert ray.post("/logout/")["Location"] == "/login/"
    assert ray.get("/")["Location"].startswith("/login/")


@pytest.mark.parametrize("address", ["/browse/", "/api/builds", "/nothing/", "/password/"])
def test_pages_are_kept_by_nobody(ray: Client, address: str) -> None:
    kept = ray.get(address)["Cache-Control"]
    assert {"private", "no-store"} <= set(kept.split(", "))


def test_a_password_can_be_changed(ray: Client) -> None:
    new = "a long and winding road"
    form = {"old_password": factories.PASSWORD, "new_password1": new, "new_password2": new}
    assert ray.post(reverse("password_change"), form)["Location"] == reverse("password_change_done")
    assert factories.ray().check_password(new)


def test_a_form_without_its_token_is_explained() -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(factories.ada())
    answer = strict.post("/builds/new/", {})
    assert answer.status_code == 403
    assert "This form is too old" in answer.content.decode()


@pytest.mark.parametrize(
    "address", ["/dashboard/", "/collections/", "/collections/upload/", "/builds/new/", "/login/"]
)
def test_pages_carry_no_inline_script_style_or_handler(ada: Client, address: str) -> None:
    page = ada.get(address, follow=True)
    html = page.content.decode()
    assert " style=" not in html
    assert "<style" not in html
    assert "<script>" not in html
    assert " onclick=" not in html
    assert "unsafe-inline" not in page["Content-Security-Policy"]
