"""Posts to addresses that people give: no redirect is followed, and each ends within a time, whatever comes.

The door is that of downloads: `address` judges where it leads and connects to what was judged.
"""

from __future__ import annotations

import http.client
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from retrieval.sources.web.address import NotPublic, build_url_opener

SECONDS: Final = 10.0
ANSWER_BYTES: Final = 1000
MOST_HANGING: Final = 20
"""Posts whose time is over while a name is looked up, or an answer drips: their threads end later."""


class NotPosted(Exception):
    """No answer came; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """HTTP's status, and how the body begins: at most ANSWER_BYTES."""

    status: int
    body: bytes


class _Post(threading.Thread):
    """One post, which nobody can stop from outside: whoever waits for it gives up instead."""

    def __init__(self, request: urllib.request.Request, public: bool) -> None:
        super().__init__(name="post", daemon=True)
        self._request, self._public = request, public
        self.found: Answer | None = None
        self.why = f"no whole answer within {SECONDS:g} seconds"

    def run(self) -> None:
        try:
            self.found = _ask(self._request, self._public)
        except NotPublic as why:
            self.why = str(why)
        except (OSError, http.client.HTTPException, ValueError) as why:
            self.why = str(why) or type(why).__name__


_hanging: list[_Post] = []


def post_bytes(url: str, body: bytes, headers: Mapping[str, str], *, public: bool) -> Answer:
    """Post `body` and return the answer, of any status. Raises NotPosted within SECONDS.

    With `public` it goes by https, to public machines alone.
    """
    if public and urlsplit(url).scheme != "https":
        raise NotPosted("the address does not begin with https://")
    _hanging[:] = [post for post in _hanging if post.is_alive()]
    if len(_hanging) >= MOST_HANGING:
        raise NotPosted("too many other addresses do not answer")
    request = urllib.request.Request(url, body, dict(headers), method="POST")  # noqa: S310 – `address` opens http(s) alone
    post = _Post(request, public)
    post.start()
    post.join(SECONDS)
    if post.is_alive():
        _hanging.append(post)
    if post.found is None:
        raise NotPosted(post.why)
    return post.found


def _ask(request: urllib.request.Request, public: bool) -> Answer:
    try:
        with build_url_opener(public, follows=False).open(request, timeout=SECONDS) as response:
            return Answer(response.status, response.read(ANSWER_BYTES))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.read(ANSWER_BYTES))
    except urllib.error.URLError as error:
        if isinstance(error.reason, NotPublic):
            raise NotPublic(f"{urlsplit(request.full_url).hostname} is no public machine") from error
        raise OSError(str(error.reason)) from error
