"""A server whose live provider is the fake one, with a canary of 24 cases; and the order of a live build."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page

from tests.e2e import workbench
from tests.e2e.launching import choose, open_folds
from tests.e2e.workbench import Workbench
from tests.fake_messages import FakeMessages

MODEL: Final = "claude-haiku-4-5"
CANARY: Final = 24
PAIRS: Final = 96


def plain(body: dict[str, Any]) -> dict[str, Any]:
    """A verdict that depends on the request alone, a fifth of them matches; a probe gets its answer."""
    if "2 + 2" in json.dumps(body["messages"]):
        return {"answer": 1}
    drawn = sha256(json.dumps(body["messages"]).encode()).digest()[0]
    return {"explanation": "The code does what its name says.", "verdict": int(drawn < 51)}


@contextmanager
def paid(home: Path) -> Iterator[tuple[Workbench, FakeMessages]]:
    """The server on a prepared home, and its provider, until the block ends."""
    workbench.manage(home, "prices", "load")
    with FakeMessages(answer=plain) as fake:
        settings = {
            "ANTHROPIC_API_KEY": fake.key,
            "COSQA_LLM_BASE_URL": fake.url,
            "COSQA_LLM_PROFILE": "anthropic",
            "COSQA_LLM_MODEL": MODEL,
            "COSQA_CANARY_ABOVE": "30",
            "COSQA_CANARY_CASES": str(CANARY),
            "COSQA_DRIFT_EVERY": "100",
        }
        with workbench.serving(home, 0, **settings) as server:
            yield server, fake


def order(page: Page, url: str, name: str, *switches: str, pairs: int = PAIRS) -> None:
    """Fill in the form for a live build and ask for its estimate; `switches` are boxes to check."""
    page.goto(f"{url}/builds/new/")
    open_folds(page)
    page.get_by_label("Name", exact=True).fill(name)
    choose(page, "queries", "sample")
    choose(page, "snippets", "sample")
    page.get_by_label("k", exact=True).fill("8")
    page.get_by_label("At most this many pairs").fill(str(pairs))
    page.locator("input[name=provider][value=live]").check()
    page.locator("input[name=budget]").fill("5")
    for switch in switches:
        page.locator(f"input[name={switch}]").check()
    page.get_by_role("button", name="Estimate the cost").click()
    page.get_by_role("heading", name=f"Launch “{name}”?").wait_for()


def confirm(page: Page) -> int:
    """Launch what was estimated; the id of the build."""
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url(re.compile(r"/builds/\d+/$"))
    return int(page.url.rstrip("/").rsplit("/", 1)[1])
