"""Whatever a page does by a POST, the API does, or page_posts.py says why not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver

from annotation.accounts.roles import RANK
from cosqa_site.api import api
from tests.site.page_posts import OPERATIONS, WITHOUT
from tests.site.roles import ROLES

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
FORM = re.compile(r'<form[^>]*method="post"[^>]*?\{% url \'([\w-]+)\'', re.IGNORECASE)


def page_routes(patterns: list[Any]) -> Iterator[URLPattern]:
    """The routes of pages: neither those of the API nor those of Django's admin."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield pattern
        elif isinstance(pattern, URLResolver) and not pattern.namespace:
            yield from page_routes(pattern.url_patterns)


def takes_post(route: URLPattern) -> bool:
    """A function that says nothing of its methods takes each."""
    kind = getattr(route.callback, "view_class", None)
    if kind is not None:
        return hasattr(kind, "post")
    arguments = dict.fromkeys(route.pattern.converters, 1)
    answer = route.callback(RequestFactory().options("/"), **arguments)
    return "POST" in answer.headers.get("Allow", "POST")


def posting_routes() -> set[str]:
    return {str(route.name) for route in page_routes(get_resolver().url_patterns) if takes_post(route)}


def operations_posted() -> set[str]:
    paths = api.get_openapi_schema()["paths"].values()
    return {methods["post"]["operationId"] for methods in paths if "post" in methods}


def rank_of(name: str) -> int:
    return next(RANK[role] for role, names in ROLES.items() if name in names)


def test_each_post_of_a_page_has_an_operation_or_a_reason() -> None:
    found = posting_routes()
    assert {"build-control", "study-amend", "login"} <= found
    assert found == OPERATIONS.keys() | WITHOUT.keys()
    assert not OPERATIONS.keys() & WITHOUT.keys()


def test_each_form_of_a_template_posts_to_one_of_these_routes() -> None:
    texts = [path.read_text() for path in TEMPLATES.rglob("*.html")]
    named = {name for text in texts for name in FORM.findall(text)}
    assert len(named) > 30
    assert named <= OPERATIONS.keys() | WITHOUT.keys()


def test_each_operation_that_is_named_is_there() -> None:
    named = {name for names in OPERATIONS.values() for name in names}
    assert named <= operations_posted()


def test_an_operation_is_for_the_role_of_the_page() -> None:
    """One operation pins all kinds of figures: it looks at the role for each kind."""
    for page, names in OPERATIONS.items():
        for name in names:
            if name != "take_pin":
                assert rank_of(f"api:{name}") == rank_of(page), (page, name)
