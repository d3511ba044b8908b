"""The REST API from Python: names where people use names, pages of lists followed by themselves.

Whatever has no method here is a `get`, `post` or `pages` away: `/api/docs` of a server lists all addresses.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final, Self, TypedDict, cast

import requests

DEFAULT_ADDRESS: Final = "http://127.0.0.1:8000"
SECONDS: Final = 60.0
MOST_A_PAGE: Final = 100
OVER: Final = frozenset({"done", "failed", "cancelled"})
FOR_A_PERSON: Final = frozenset({"paused", "canary"})


class Collection(TypedDict):
    """A collection of queries or of functions (`kind` is "queries" or "snippets")."""

    id: int
    name: str
    version: int
    kind: str
    size: int


class Build(TypedDict):
    """A build; `pairs` counts its cases in all rounds, `abandoned` those that could not be judged."""

    id: int
    name: str
    state: str
    reason: str
    pairs: int
    settled: int
    abandoned: int
    matches_in_force: int


class Case(TypedDict):
    """A pair in one round. A label is 1, 0, or None where nobody said either."""

    id: int
    round: int
    stage: str
    label: int | None
    label_in_force: int | None
    pair: int
    query: dict[str, Any]
    snippet: dict[str, Any]
    reason: str


class ApiError(Exception):
    """The server refused. `status` is HTTP's, `type` is for programs, the message says what to do."""

    def __init__(self, status: int, kind: str, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status, self.type, self.detail = status, kind, detail


class BearerToken(requests.auth.AuthBase):
    """The token of an account. As `auth` it can't be replaced by what a .netrc says."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self.token}"
        return request


class Client:
    """A server, seen with the rights of a token (`cosqa admin token USER --name NAME` makes one)."""

    def __init__(self, token: str, address: str = DEFAULT_ADDRESS, seconds: float = SECONDS) -> None:
        """`seconds` bounds the wait for each answer."""
        self.address, self.seconds = address.rstrip("/"), seconds
        self.session = requests.Session()
        self.session.auth = BearerToken(token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()

    def get(self, path: str, **parameters: Any) -> Any:
        """The answer of `/api/` + path. Raises ApiError."""
        return self.ask("GET", path, params=without_none(parameters))

    def post(self, path: str, **body: Any) -> Any:
        """Likewise, with a JSON object as body. Raises ApiError."""
        return self.ask("POST", path, json=body)

    def ask(self, method: str, path: str, **given: Any) -> Any:
        """Redirections are not followed, so that the token goes to this address alone. Raises ApiError."""
        url = f"{self.address}/api/{path.strip('/')}"
        answer = self.session.request(method, url, timeout=self.seconds, allow_redirects=False, **given)
        if not answer.ok or answer.is_redirect:
            raise error_of(answer)
        return answer.json() if answer.content else None

    def pages(self, path: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """All rows of a list, page after page. Raises ApiError."""
        after = None
        while True:
            page = self.get(path, limit=MOST_A_PAGE, after=after, **parameters)
            yield from page["items"]
            after = page["next"]
            if after is None:
                return

    def me(self) -> dict[str, str]:
        """Name and role of the account."""
        return cast(dict[str, str], self.get("me"))

    def collections(self, kind: str | None = None, name: str | None = None) -> Iterator[Collection]:
        """Collections of a kind ("queries", "snippets") and name, the newest first."""
        return cast(Iterator[Collection], self.pages("collections", kind=kind, name=name))

    def builds(self, state: str | None = None) -> Iterator[Build]:
        """Builds, the newest first."""
        return cast(Iterator[Build], self.pages("builds", state=state))

    def build(self, name: str | int) -> Build:
        """The build of this name, or of this id where it is a number. Raises LookupError."""
        if isinstance(name, int):
            return cast(Build, self.get(f"builds/{name}"))
        found = next((build for build in self.builds() if build["name"] == name), None)
        if found is None:
            raise LookupError(f"There is no build called {name!r}.")
        return found

    def launch(self, name: str, queries: str, snippets: str, **order: Any) -> Build:
        """Launch a build over the newest collections of these names.

        `order` has what the page of a new build asks: k=20, encoders=["bm25"], limit=100, provider="exchange"
        …; `post("builds/estimate", …)` says what it would take. Raises ApiError and LookupError.
        """
        ids = {"queries": self.find("queries", queries), "snippets": self.find("snippets", snippets)}
        return cast(Build, self.post("builds", name=name, **ids, **order))

    def find(self, kind: str, name: str) -> int:
        """The id of the newest collection of this kind and name. Raises LookupError."""
        found = next((row for row in self.collections(kind, name) if row["name"] == name), None)
        if found is None:
            raise LookupError(f"There is no collection of {kind} called {name!r}.")
        return found["id"]

    def wait(self, build: int, seconds: float = 3600.0, every: float = 2.0) -> Build:
        """Look at a build until it is over or waits for a person. Raises TimeoutError after `seconds`."""
        ends = time.monotonic() + seconds
        while True:
            found = self.build(build)
            if found["state"] in OVER | FOR_A_PERSON:
                return found
            if time.monotonic() > ends:
                raise TimeoutError(f"Build {found['name']!r} is {found['state']} after {seconds:g} s.")
            time.sleep(every)

    def cases(self, build: int, **filters: Any) -> Iterator[Case]:
        """The cases of a build: stage="settled", label=1, q="words of the query", differs=True …"""
        return cast(Iterator[Case], self.pages(f"builds/{build}/cases", **filters))

    def control(self, build: int, action: str, reason: str = "") -> dict[str, Any]:
        """pause, resume, go_on (after its canary), cancel, or retry what could not be judged."""
        return cast(dict[str, Any], self.post(f"builds/{build}/control", action=action, reason=reason))


def without_none(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def error_of(answer: requests.Response) -> ApiError:
    """What an answer says of its refusal; other servers' pages say their status alone."""
    if answer.is_redirect:
        place = answer.headers["Location"]
        return ApiError(answer.status_code, "", f"This address leads to {place}: use that one as address.")
    try:
        told = answer.json()
        return ApiError(answer.status_code, str(told.get("type", "")), describe_refusal(told))
    except (ValueError, AttributeError):
        return ApiError(answer.status_code, "", answer.reason or "no reason given")


def describe_refusal(told: dict[str, Any]) -> str:
    """The detail, and what is wrong with each field where that is told."""
    wrong = told.get("errors") or ()
    return "; ".join([str(told.get("detail", "")), *(str(one) for one in wrong)])
