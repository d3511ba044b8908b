"""Calls to the API as tests make them: JSON in, status checked, JSON out."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import ApiToken

WIDE = ("textbody", "programtext", "reporttext", "requesttext", "replytext", "systemtext")
"""The side tables of wide text, which no list may read."""


def get(client: Client, path: str, status: int = 200, **query: Any) -> Any:
    response = client.get(f"/api/{path}", query)
    assert response.status_code == status, response.content
    return response.json()


def post(client: Client, path: str, body: Any, status: int = 200) -> Any:
    response = client.post(f"/api/{path}", body, content_type="application/json")
    assert response.status_code == status, response.content
    return response.json()


def pages(client: Client, path: str, limit: int, **query: Any) -> list[Any]:
    """All items of a list, read page by page."""
    items: list[Any] = []
    page = get(client, path, limit=limit, **query)
    while True:
        assert len(page["items"]) <= limit
        items += page["items"]
        if page["next"] is None:
            return items
        page = get(client, path, limit=limit, after=page["next"], **query)


def cost(client: Client, path: str, **query: Any) -> int:
    """How many queries a list takes; none of them reads a wide row."""
    with CaptureQueriesContext(
        connection,
    ) as captured:
        get(client, path, **query)
    wide = [
        one["sql"]
        for one in captured
        if any(f'annotation_{t}"' in one["sql"] or f'retrieval_{t}"' in one["sql"] for t in WIDE)
    ]
    assert not wide, wide
    return len(captured)


def with_token(user: User, **options: Any) -> Client:
    """A client without a session that sends a bearer token of `user`."""
    _, secret = ApiToken.objects.issue(user, "tests")
    return Client(headers={"authorization": f"Bearer {secret}"}, **options)
