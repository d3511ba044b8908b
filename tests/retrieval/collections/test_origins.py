"""Which stored origins are links that a page may show."""

from __future__ import annotations

import pytest

from retrieval.collections.origins import find_origin_link, is_web_link
from retrieval.models import Member
from tests import factories

LINK = "https://github.com/psf/requests/blob/0a1b2c/requests/api.py#L16-L30"


@pytest.mark.parametrize("origin", [LINK, "http://example.org/a.py", "https://host.example:8443/a?b=c"])
def test_an_http_address_with_a_host_is_a_link(origin: str) -> None:
    assert is_web_link(origin)


@pytest.mark.parametrize(
    "origin",
    [
        *("", "CodeSearchNet/python.zip", "written by agents", "httpbin/core.py", "http://", "https:///a"),
        *("javascript:alert(1)", "ftp://example.org/a", "https://github.com@evil.example/a"),
        *("https://example.org/a b", "https://example.org/a\nb", "https://[::1/a"),
    ],
)
def test_anything_else_is_none(origin: str) -> None:
    assert not is_web_link(origin)


@pytest.mark.django_db
def test_a_text_has_the_first_link_that_was_stored_for_it() -> None:
    member = factories.snippets().members.select_related("text")[0]
    assert find_origin_link(member.text) == ""
    other = factories.snippets(name="other").members.get(text=member.text)
    Member.objects.filter(pk=member.pk).update(origin="https://github.com@evil.example/a")
    Member.objects.filter(pk=other.pk).update(origin=LINK)
    assert find_origin_link(member.text) == LINK
