"""One request, one thread of a few that stay: what answers HTTP under ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import close_old_connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

THREADS: Final = 40
"""Requests that are answered at once; more wait. Some of them wait for a sandbox, not for a processor."""


class OneThread(ASGIHandler):
    """Django's handler for middleware and views that are all synchronous, as ours are.

    Its own goes from the event loop to a thread and back around each middleware and the view, and makes a
    thread for each request, which opens the database anew. This one goes to a thread once, and the threads
    keep what they have opened as long as Django's settings say.
    """

    def __init__(self) -> None:
        super().__init__()
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[..., Awaitable[Any]],
        send: Callable[..., Awaitable[Any]],
    ) -> None:
        """Answer a request. Raises ValueError for what is no HTTP."""
        if scope["type"] != "http":
            raise ValueError(f"only HTTP is answered here, not {scope['type']}")
        await self.handle(scope, receive, send)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        answer = sync_to_async(self.answer, thread_sensitive=False, executor=self.threads)
        return await answer(request)

    def answer(self, request: HttpRequest) -> HttpResponseBase:
        """The response, made in this thread, whose connections are looked at before and after."""
        close_old_connections()
        try:
            return self.get_response(request)
        finally:
            close_old_connections()
