"""The live part of a build's page over a websocket: the same fragment as by polling, when it has changed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from importlib import import_module
from typing import Any, Final

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer, AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import path, re_path

from annotation.accounts.roles import Role, has_role, jobs_visible_to
from annotation.builds.results import progress
from annotation.models import Build
from annotation.web.builds.page import progress_page

LOOK: Final = 1.0
"""Seconds between two looks at the build's version."""
REFUSED: Final = 4403
GONE: Final = 4404
FAULT: Final = 1011
log = logging.getLogger(__name__)


class Refused(Exception):
    """Whoever listens may not, or not any more."""


class BuildConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels publishes no types
    """Sends `{"version", "html"}` at once and after each change; takes no messages.

    Session and person are read anew at each look: a log-out here or elsewhere, a new password, a lost role
    and a closed account end the stream.
    """

    watching: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        await self.accept()
        self.watching = asyncio.create_task(self.watch())

    async def disconnect(self, code: int) -> None:
        if self.watching:
            self.watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.watching

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any) -> None:
        """Nothing is asked over the socket: buttons are forms."""

    async def watch(self) -> None:
        """Follow the build; however that ends, the page is told, and goes on by polling."""
        try:
            await self.follow(self.scope["url_route"]["kwargs"]["pk"])
        except Refused:
            await self.close(REFUSED)
        except Build.DoesNotExist:
            await self.close(GONE)
        except DatabaseError:
            log.exception("the websocket of a build's page")
            await self.close(FAULT)

    async def follow(self, pk: int) -> None:
        look = database_sync_to_async(load_for_session)
        known: str | None = None
        while True:
            change = await look(self.scope["session"].session_key, pk, known)
            if change is not None:
                known = change["version"]
                await self.send_json(change)
            await asyncio.sleep(LOOK)


def load_for_session(key: str | None, pk: int, known: str | None) -> dict[str, str] | None:
    """The same for whoever the session with this key belongs to now."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return load_changed_fragment(get_user(request).pk, pk, known)


def load_changed_fragment(user_pk: int | None, pk: int, known: str | None) -> dict[str, str] | None:
    """The fragment and its version, unless the version is `known`. Raises Refused, Build.DoesNotExist."""
    user = User.objects.filter(pk=user_pk or 0, is_active=True).first()
    if user is None or not has_role(user, Role.ADMIN):
        raise Refused
    builds = jobs_visible_to(user)
    version = progress.version_of(builds, pk)
    if version is not None and version == known:
        return None
    page = progress_page(builds.get(pk=pk))
    html = render_to_string("annotation/builds/detail.html#progress", {"page": page})
    return {"version": page["shot"].version, "html": html}


class Nowhere(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels publishes no types
    """Every other address: refused, as a page that is not there, and no fault to be logged."""

    async def connect(self) -> None:
        await self.close(GONE)


websocket_urlpatterns = [
    path("ws/builds/<int:pk>/", BuildConsumer.as_asgi()),
    re_path("", Nowhere.as_asgi()),
]
