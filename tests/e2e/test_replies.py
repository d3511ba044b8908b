"""A build without a key, from launch to end by the browser alone: download, answer, upload."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.sync_api import expect

from tests.e2e.launching import Order, launch, wait_until, wait_until_opened

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.conftest import Login
    from tests.e2e.workbench import Workbench

PAIRS: Final = 40


@pytest.fixture
def page(login: Login) -> Page:
    return login("ada", accept_downloads=True).new_page()


def example_of(schema: dict[str, Any]) -> Any:
    """Some value that fits a schema: what a model without any idea would reply."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: example_of(said) for name, said in schema["properties"].items()}
    if kind == "array":
        return [example_of(schema["items"])] * schema.get("minItems", 0)
    return {"string": "as the code says", "number": 1, "integer": 1, "boolean": True}[str(kind)]


def answer_file(requests: Path, replies: Path) -> int:
    """Answer all requests of a file: every second pair is a plain match, the others are no match."""
    prompts, lines = dict[str, Any](), list[str]()
    for line in map(json.loads, requests.read_text().splitlines()):
        if "id" not in line:
            prompts[line["prompt"]] = line["schema"]
            continue
        reply = example_of(prompts[line["prompt"]]) | {"verdict": len(lines) % 2}
        lines.append(json.dumps({"id": line["id"], "reply": reply}) + "\n")
    replies.write_text("".join(lines))
    return len(lines)


def test_forty_requests_are_answered_in_the_browser_and_nothing_in_the_shell(
    page: Page, server: Workbench, tmp_path: Path
) -> None:
    build = launch(page, server.url, Order("no key", "exchange", limit=PAIRS, fresh=True))
    wait_until_opened(page)
    wait_until(page, "waiting for replies")
    expect(page.get_by_text("Waiting for 40 replies")).to_be_visible()
    requests, replies = tmp_path / "requests.jsonl", tmp_path / "replies.jsonl"
    with page.expect_download() as download:
        page.get_by_role("link", name="Download requests").click()
    download.value.save_as(requests)
    assert answer_file(requests, replies) == PAIRS
    whole = replies.read_text()
    replies.write_text("this is no reply\n" + whole)
    page.get_by_role("link", name="Upload replies").click()
    page.get_by_label("File of replies").set_input_files(replies)
    page.get_by_label("Who answered").fill("gpt-oss-20b")
    page.get_by_role("button", name="Upload replies").click()
    expect(page.get_by_text("40 replies taken, 1 refused")).to_be_visible()
    expect(page.get_by_text("Line 1")).to_be_visible()
    page.goto(f"{server.url}/builds/{build}/")
    wait_until(page, "done")
    expect(page.get_by_text("40 of 40 cases finished")).to_be_visible()
    expect(page.locator("aside").get_by_text("gpt-oss-20b")).to_be_visible()
