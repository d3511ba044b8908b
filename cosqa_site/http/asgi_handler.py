"""One request, one thread of a few that stay: what answers HTTP under ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any, Final, TypeVar, cast

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from cosqa_site.http.body_limits import BoundedBody, is_small, refuse_large_body, too_large

Answer = TypeVar("Answer")
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
        request, _ = self.create_request(scope, BytesIO())
        refusal = await self.refuse_body(request) if request else None
        if refusal is None:
            body = BoundedBody(receive)
            await self.handle(scope, body, send)
            refusal = too_large(request) if body.is_exceeded and request else None
        if refusal is not None:
            await self.send_response(refusal, send)

    async def refuse_body(self, request: HttpRequest) -> HttpResponse | None:
        """The refusal of a body that is too large for its sender, who is looked up in a thread."""
        return None if is_small(request) else await self.in_thread(refuse_large_body, request)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await self.in_thread(self.get_response, request)

    async def in_thread(self, work: Callable[[HttpRequest], Answer], request: HttpRequest) -> Answer:
        answer = sync_to_async(self.answer, thread_sensitive=False, executor=self.threads)
        return cast(Answer, await answer(work, request))

    def answer(self, work: Callable[[HttpRequest], Answer], request: HttpRequest) -> Answer:
        """What `work` makes of it in this thread, whose connections are looked at before and after."""
        close_old_connections()
        try:
            return work(request)
        finally:
            close_old_connections()
