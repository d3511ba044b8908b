"""Builds launched as an admin does it, by the form; and the ids that addresses of pages need."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import BrowserContext, Page

from tests.e2e import workbench
from tests.e2e.pages import Api
from tests.e2e.workbench import python

ENDS_WITHIN: Final = 240_000
TESTED: Final = ("q01", "lists.py::purge_empty_strings")
"""A match whose test program and trace are easy to read."""


@dataclass(frozen=True)
class Order:
    """What is filled in; the rest of the form stays as it is proposed.

    `fresh`: replies to other builds of the same server do not count, so that requests wait for their own.
    """

    name: str
    provider: str
    encoders: Sequence[str] = ("bm25", "bow")
    k: int = 8
    limit: int | None = None
    snippets: str = "sample"
    rounds: int = 1
    fresh: bool = False


def launch(page: Page, url: str, order: Order) -> int:
    """Fill in the form that the dashboard leads to, and send it; the page is then the build's. Its id."""
    page.goto(f"{url}/dashboard/")
    page.get_by_role("link", name="Launch a build").first.click()
    open_folds(page)
    page.get_by_label("Name", exact=True).fill(order.name)
    choose(page, "queries", "sample")
    choose(page, "snippets", order.snippets)
    for box in page.locator("input[name=encoders]").all():
        box.set_checked(box.get_attribute("value") in order.encoders)
    page.get_by_label("k", exact=True).fill(str(order.k))
    page.locator("input[name=rounds]").fill(str(order.rounds))
    page.get_by_label("Ask everything again").set_checked(order.fresh)
    if order.limit is not None:
        page.get_by_label("At most this many pairs").fill(str(order.limit))
    page.locator(f"input[name=provider][value={order.provider}]").check()
    if order.provider == "recorded":
        choose(page, "recorded", "sample/replies.jsonl")
        choose(page, "rule", "testable, as in the paper")
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url("**/builds/*/")
    return int(page.url.rstrip("/").rsplit("/", 1)[1])


def open_folds(page: Page) -> None:
    """Unfold what few builds need."""
    page.locator("details.fold").evaluate_all("folds => folds.forEach((fold) => (fold.open = true))")


def choose(page: Page, name: str, words: str) -> None:
    """Select the option that contains `words`."""
    field = page.locator(f"select[name={name}]")
    option = field.locator("option", has_text=words).first
    field.select_option(option.get_attribute("value"))


def wait_until(page: Page, state: str) -> None:
    """Wait until the live part of the build's page says `state`."""
    page.locator(f'[data-live] > [data-state="{state}" i]').wait_for(state="attached", timeout=ENDS_WITHIN)


def wait_until_opened(page: Page) -> None:
    """Wait until the build's cases are there."""
    page.locator("[data-live] .stack-bar").wait_for(state="attached", timeout=ENDS_WITHIN)


def wait_until_settled(page: Page, cases: int) -> None:
    """Wait until the funnel says that so many cases are settled."""
    settled = "+document.querySelector('[data-funnel]').dataset.funnel.split(' ')[7]"
    page.wait_for_function(f"() => {settled} >= {cases}", timeout=ENDS_WITHIN, polling=500)


def answer_by_file(home: Path, name: str, cases: int) -> None:
    """Answer every request of a screening that waits, which are so many in the end: alternately 1 and 0."""
    requests, replies = home / "requests.jsonl", home / "answers.jsonl"
    for _ in range(240):
        workbench.manage(home, "exchange", "export", name, "--out", str(requests))
        lines = [line for line in requests.read_text().splitlines() if "id" in json.loads(line)]
        if len(lines) == cases:
            break
        time.sleep(1)
    answers = [
        {"id": json.loads(line)["id"], "reply": {"verdict": place % 2, "explanation": "plain to see"}}
        for place, line in enumerate(lines)
    ]
    replies.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    workbench.manage(home, "exchange", "import", name, str(replies))


def more_builds(context: BrowserContext, url: str, home: Path) -> dict[str, int]:
    """A build that waits for replies by file, one whose recording lacks replies, and one in two rounds."""
    page = context.new_page()
    waiting = launch(page, url, Order("answers by file", "exchange", limit=40, fresh=True))
    wait_until_opened(page)
    broken = launch(page, url, Order("with replies missing", "recorded", k=10, limit=30))
    wait_until(page, "done")
    rounds = launch(page, url, Order("in two rounds", "exchange", limit=20, rounds=2, fresh=True))
    wait_until_opened(page)
    answer_by_file(home, "in two rounds", cases=40)
    wait_until(page, "done")
    page.close()
    return {"waiting": waiting, "broken": broken, "rounds": rounds}


def known_ids(api: Api, build: int) -> dict[str, int]:
    """Ids of the collections, of a query, and of cases: tested, only screened, with a failed test."""
    tested = tested_case(api, build)
    screened = next(
        row for row in api.cases(build, label=0) if row["outcome"] is None and row["query"] == tested["query"]
    )
    failed = next(
        row
        for row in api.cases(build, label=0)
        if row["outcome"] == "failed" and row["query"] != tested["query"]
    )
    return {
        "build": build,
        "queries": api.collection("queries"),
        "snippets": api.collection("functions"),
        "query": tested["query"]["id"],
        "case": tested["id"],
        "screened": screened["id"],
        "failed": failed["id"],
    }


def tested_case(api: Api, build: int) -> Mapping[str, Any]:
    """The case of the build that is about `TESTED`."""
    name = TESTED[1].rsplit("::", 1)[1]
    return next(row for row in api.cases(build, label=1) if f"def {name}(" in row["function"]["head"])


def run_again(context: BrowserContext, url: str, case: int) -> int:
    """Have the case's test program run again by a person; the id of that execution request."""
    page = context.new_page()
    page.goto(f"{url}/review/cases/{case}/")
    page.get_by_role("button", name="Run again").click()
    page.locator('#run[data-state="done"]').wait_for(timeout=60_000)
    page.reload()
    link = page.locator('a[href*="/review/executions/"]').first.get_attribute("href") or ""
    page.close()
    return int(link.split("/executions/", 1)[1].split("/", 1)[0])


def called(context: BrowserContext, url: str, case: int) -> int:
    """Have the case's candidate called by a person whose browser runs no script; the id of that call."""
    page = context.new_page()
    page.route("**/*.js", lambda route: route.abort())
    page.goto(f"{url}/review/cases/{case}/")
    page.locator(".call-fold summary").click()
    page.locator("#call-expression").fill('purge_empty_strings(["a", "", "b"])')
    page.get_by_role("button", name="Call", exact=True).click()
    page.wait_for_url("**/review/calls/*/*")
    answer = page.url.split("/calls/", 1)[1]
    page.close()
    return int(answer.split("/", 1)[0])


def tried(context: BrowserContext, url: str, ids: Mapping[str, int]) -> dict[str, int]:
    """Find out how strong the case's test is, and fill the table of its query; ids of program and run."""
    page = context.new_page()
    page.goto(f"{url}/review/cases/{ids['case']}/")
    page.locator(".about-test").evaluate("(it) => (it.open = true)")
    asked = page.get_by_role("button", name="Check test strength")
    if asked.count():  # else another test has found it out
        asked.click()
    page.get_by_text("Strength: caught").wait_for(timeout=120_000)
    run = page.locator('.strength a[href*="/review/trials/"]').first.get_attribute("href") or ""
    program = (page.locator(".strength").get_attribute("id") or "").split("-")[1]
    page.goto(f"{url}/browse/{ids['build']}/queries/{ids['query']}/tests/")
    page.locator("#crossing form button").click()
    page.get_by_text(re.compile(r"All [\d,]+ results are known")).wait_for(timeout=120_000)
    page.close()
    return {"program": int(program), "trial": int(run.strip("/").rsplit("/", 1)[1])}


def written(home: Path, name: str = "functions") -> dict[str, int]:
    """Ids of a job that has written three functions, and of one that an expert is through with."""
    ids: dict[str, int] = json.loads(python(home, "-m", "tests.e2e.written", name))
    return ids
