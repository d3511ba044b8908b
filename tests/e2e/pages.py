"""Every page of the site by name, who may see it, and what a look at it finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from playwright.sync_api import APIRequestContext, BrowserContext, ConsoleMessage, Page, Route, expect

WIDE: Final = 1440
NARROW: Final = 390
HEIGHTS: Final = {WIDE: 900, NARROW: 844}

REPORT_VIOLATIONS: Final = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`CSP: ${event.violatedDirective} blocked ${event.blockedURI} of ${event.sourceFile}`));
"""
OVERFLOW: Final = """() => {
  const seen = document.scrollingElement;
  if (seen.scrollWidth <= window.innerWidth) return "";
  const sticksOut = (one) => one.getBoundingClientRect().right > window.innerWidth + 1;
  const wide = [...document.body.querySelectorAll("*")].filter(sticksOut);
  const names = wide.slice(0, 5).map((one) => one.cloneNode(false).outerHTML.slice(0, 120));
  return `${seen.scrollWidth} px wide in a window of ${window.innerWidth} px: ${names.join(", ")}`;
}"""

CONTROLS: Final = """() => [...document.querySelectorAll("a, button, input, select, textarea, summary")]
.filter((one) => {
  if (one.type === "hidden" || one.matches(".ln, .skip-link") || !one.checkVisibility()) return false;
  const box = one.getBoundingClientRect();
  return box.width && box.bottom > 0 && box.top < innerHeight;
}).map((one) => one.getAttribute("aria-label") ?? (one.id || one.textContent.trim()))"""
"""The names of the controls that are in the window."""

QUIET: Final = """() => document.readyState === "complete"
  && !document.querySelector(".htmx-swapping, .htmx-settling, [data-guard].htmx-request, [data-saving]")"""
DEAD_FOR_MS: Final = 350
"""A second press must not label what nobody can have seen: static/js/keys.js."""


@dataclass(frozen=True)
class Place:
    """A page: its address with names of ids in braces, the role that opens it, the status that it has."""

    name: str
    path: str
    role: str
    status: int = 200


PLACES: Final = (
    Place("login", "/login/", ""),
    Place("password-forgotten", "/password/forgotten/", ""),
    Place("password-mailed", "/password/forgotten/sent/", ""),
    Place("password-link-over", "/password/new/x/with/y/", ""),
    Place("password-set", "/password/new/done/", ""),
    Place("invitation-over", "/join/no-such-word/", "", 404),
    Place("not-found", "/no-such-page/", "reader", 404),
    Place("forbidden", "/dashboard/", "reader", 403),
    Place("password", "/password/", "reader"),
    Place("glossary", "/glossary/", "reader"),
    Place("tokens", "/tokens/", "reader"),
    Place("work", "/work/", "expert"),
    Place("dashboard", "/dashboard/", "admin"),
    Place("collections", "/collections/", "admin"),
    Place("collection-queries", "/collections/{queries}/", "admin"),
    Place("collection-snippets", "/collections/{snippets}/", "admin"),
    Place("collection-queries-corpus", "/collections/{queries}/corpus/", "admin"),
    Place("collection-snippets-corpus", "/collections/{snippets}/corpus/", "admin"),
    Place("collection-queries-filters", "/collections/{queries}/filters/", "admin"),
    Place("collection-snippets-filters", "/collections/{snippets}/filters/", "admin"),
    Place("upload", "/collections/upload/", "admin"),
    Place("upload-beir", "/collections/upload/?format=beir", "admin"),
    Place("upload-qrels", "/collections/upload/?format=qrels", "admin"),
    Place("upload-columns", "/collections/upload/{table}/", "admin"),
    Place("build-new", "/builds/new/", "admin"),
    Place("connection", "/connection/", "admin"),
    Place("connection-test", "/connection/tests/{connection}/", "admin"),
    Place("build", "/builds/{build}/", "admin"),
    Place("build-canary", "/builds/{canary}/canary/", "admin"),
    Place("extension-canary", "/builds/{extended}/extensions/1/canary/", "admin"),
    Place("build-extended", "/builds/{extended}/", "admin"),
    Place("build-cases-canary", "/builds/{canary}/cases/?canary=finished&label=1", "admin"),
    Place("build-drift", "/builds/{canary}/drift/1/", "admin"),
    Place("build-drift-none", "/builds/{canary}/drift/0/?moved=higher", "admin"),
    Place("build-missing", "/builds/{build}/missing/", "admin"),
    Place("build-writes", "/builds/{written_build}/", "admin"),
    Place("build-waiting", "/builds/{waiting}/", "admin"),
    Place("build-replies", "/builds/{waiting}/replies/", "admin"),
    Place("build-reply-next", "/builds/{waiting}/replies/next/", "admin"),
    Place("build-cancel", "/builds/{waiting}/control/?action=cancel", "admin"),
    Place("build-cap", "/builds/{waiting}/cap/", "admin"),
    Place("build-guidelines", "/builds/{waiting}/guidelines/", "admin"),
    Place("build-review-rule", "/builds/{waiting}/review-rule/", "admin"),
    Place("build-merge", "/builds/{rounds}/merge/", "admin"),
    Place("build-publish", "/builds/{rounds}/publish/", "admin"),
    Place("build-publish-counted", "/builds/{rounds}/publish/?counted", "admin"),
    Place("build-publish-open", "/builds/{waiting}/publish/", "admin"),
    Place("build-publish-running", "/builds/{build}/publish/", "admin"),
    Place("build-publish-ended", "/builds/{broken}/publish/", "admin"),
    Place("build-audit", "/builds/{audited}/audit/", "reader"),
    Place("build-audit-none", "/builds/{audited}/audit/?said=open", "admin"),
    Place("build-correct", "/builds/{audited}/correct/", "admin"),
    Place("build-given", "/builds/{audited}/", "admin"),
    Place("build-new-given", "/builds/new/?given=list-{given_list}", "admin"),
    Place("pairs-new", "/builds/pairs/", "admin"),
    Place("project-cap", "/project/cap/", "admin"),
    Place("build-abandoned", "/builds/{broken}/abandoned/", "admin"),
    Place("build-cases", "/builds/{build}/cases/?reached=unclear&label=1", "admin"),
    Place("build-cases-slowest", "/builds/{build}/cases/?reached=clear&sort=duration", "admin"),
    Place("build-cases-none", "/builds/{build}/cases/?stage=abandoned", "admin"),
    Place("build-extend", "/builds/{build}/extend/?k=25", "admin"),
    Place("build-extend-nothing-chosen", "/builds/{waiting}/extend/", "admin"),
    Place("build-again", "/builds/{build}/again/?label=1", "admin"),
    Place(
        "build-again-priced",
        "/builds/{build}/again/?reached=arbitrated&name=once+more&start=arbitrating&provider=exchange"
        "&model=another&fix_rounds=2&rewrites=1",
        "admin",
    ),
    Place("browse", "/browse/", "reader"),
    Place("browse-build", "/browse/{build}/", "reader"),
    Place("benchmarks", "/benchmarks/", "reader"),
    Place("benchmark", "/benchmarks/1/", "reader"),
    Place("benchmark-holes", "/benchmarks/1/holes/", "admin"),
    Place("benchmark-compare", "/benchmarks/1/compare/", "reader"),
    Place("benchmark-upload", "/benchmarks/1/upload/", "admin"),
    Place("benchmark-for-admins", "/benchmarks/{published}/", "admin"),
    Place("benchmark-contamination", "/benchmarks/1/contamination/", "admin"),
    Place("benchmark-distractors", "/benchmarks/1/distractors/", "admin"),
    Place("benchmark-similarity", "/benchmarks/1/similarity/", "admin"),
    Place("benchmark-score", "/benchmarks/1/score/", "admin"),
    Place("benchmark-trained", "/benchmarks/{published}/trained/", "admin"),
    Place("benchmark-train", "/benchmarks/{published}/train/", "admin"),
    Place("benchmark-training", "/benchmarks/{published}/train/{training}/", "admin"),
    Place("benchmark-score-ordered", "/benchmarks/{published}/score/", "admin"),
    Place("benchmark-holes-ordered", "/benchmarks/{published}/holes/", "admin"),
    Place("benchmark-upload-ordered", "/benchmarks/{published}/upload/", "admin"),
    Place("benchmark-nothing-found", "/benchmarks/1/?found=5%2B", "reader"),
    Place("benchmark-corpus", "/benchmarks/1/corpus/", "reader"),
    Place("benchmark-query", "/benchmarks/1/queries/1/", "reader"),
    Place("reports", "/reports/", "reader"),
    Place("readers-home", "/", "reader"),
    Place("pin", "/pins/1/", "reader"),
    Place("benchmark-exports", "/benchmarks/1/exports/", "admin"),
    Place("compare", "/browse/compare/?first={build}&second={waiting}", "reader"),
    Place("compare-nothing-chosen", "/browse/compare/", "reader"),
    Place("compare-annotators", "/browse/compare/?of=annotators&first=1&second=2", "reader"),
    Place("compare-annotators-nothing-chosen", "/browse/compare/?of=annotators", "reader"),
    Place("quality", "/quality/", "expert"),
    Place("rounds", "/browse/{rounds}/rounds/", "reader"),
    Place("browse-nothing-found", "/browse/{build}/?q=zzzz", "reader"),
    Place("build-corpus", "/browse/{build}/corpus/", "reader"),
    Place("query", "/browse/{build}/queries/{query}/", "reader"),
    Place("matches", "/browse/{build}/queries/{query}/matches/", "reader"),
    Place("case", "/browse/cases/{case}/", "reader"),
    Place("case-screened", "/browse/cases/{screened}/", "reader"),
    Place("crossing", "/browse/{build}/queries/{query}/tests/", "expert"),
    Place("adjudication-queue", "/adjudication/{split}/", "expert"),
    Place("adjudication-pair", "/adjudication/{split}/pairs/1/conditions/{split_condition}/", "expert"),
    Place("precedents", "/precedents/?q=sort", "expert"),
    Place("flags", "/review/flags/", "admin"),
    Place("review-guidelines", "/review/builds/{build}/guidelines/", "expert"),
    Place("review-case", "/review/cases/{case}/", "expert"),
    Place("review-case-failed", "/review/cases/{failed}/", "expert"),
    Place("review-case-screened", "/review/cases/{screened}/", "expert"),
    Place("review-test", "/review/cases/{case}/test/", "expert"),
    Place("review-execution", "/review/executions/{execution}/", "expert"),
    Place("review-strength", "/review/programs/{program}/strength/", "expert"),
    Place("review-trial", "/review/trials/{trial}/", "expert"),
    Place("review-answer", "/review/calls/{call}/?case={case}", "expert"),
    Place("review-list", "/review/builds/{build}/list/", "expert"),
    Place("review-list-sample", "/review/builds/{build}/list/?smart=sample&seed=1&size=5&q=list", "expert"),
    Place("review-list-none", "/review/builds/{build}/list/?q=zzzz&sort=information", "expert"),
    Place("review-list-share", "/review/builds/{build}/list/share/?smart=untested", "admin"),
    Place("review-done", "/review/builds/{build}/?show=unsettled", "expert"),
    Place("proposals-listed", "/written/jobs/{job}/", "expert"),
    Place("proposals-done", "/written/jobs/{decided}/next/", "expert"),
    Place("proposal", "/written/functions/{function}/", "expert"),
    Place("proposal-ran", "/written/functions/{function}/runs/{function_run}/", "expert"),
    Place("proposal-edit", "/written/functions/{function}/?edit=1", "expert"),
    Place("review-keys", "/review/keys/", "expert"),
    Place("history", "/history/", "expert"),
    Place("studies", "/studies/", "admin"),
    Place("studies-begun", "/studies/", "expert"),
    Place("study-new", "/studies/new/", "admin"),
    Place("guidelines", "/guidelines/", "admin"),
    Place("guideline-new", "/guidelines/new/", "admin"),
    Place("guideline", "/guidelines/{guideline}/", "admin"),
    Place("guideline-edit", "/guidelines/{guideline}/next/", "admin"),
    Place("webhooks", "/webhooks/", "admin"),
    Place("webhook", "/webhooks/{webhook}/", "admin"),
    Place("webhook-delete", "/webhooks/{webhook}/delete/", "admin"),
    Place("people", "/people/", "admin"),
    Place("people-none", "/people/?q=zzzz", "admin"),
    Place("person", "/people/1/", "admin"),
    Place("person-close", "/people/2/change/?action=close", "admin"),
    Place("person-new", "/people/new/", "admin"),
    Place("invite", "/people/invite/", "admin"),
    Place("audit", "/audit/", "admin"),
    Place("audit-labels", "/audit/labels/", "admin"),
    Place("study", "/studies/{rate_own}/", "admin"),
    Place("study-edit", "/studies/{draft}/edit/", "admin"),
    Place("study-draft", "/studies/{draft}/", "admin"),
    Place("study-amend", "/studies/{rate_own}/amend/", "admin"),
    Place("study-again", "/studies/{rate_own}/again/", "admin"),
    Place("study-control", "/studies/{rate_own}/control/?action=pause", "admin"),
    Place("study-publish", "/studies/{split}/publish/", "admin"),
    Place("study-figures-none", "/studies/{rate_own}/figures/", "admin"),
    Place("study-figures", "/studies/{split}/figures/", "admin"),
    Place("study-figures-pairs", "/studies/{split}/figures/pairs/?row=always+1&cell=1", "admin"),
    Place("work-rater", "/work/", "rater"),
    Place("rate-study", "/rate/{rate_own}/", "rater"),
    Place("rate-leave", "/rate/{rate_own}/leave/", "rater"),
    Place("rate-guidelines", "/rate/{rate_own}/guidelines/", "rater"),
    Place("rate-pair", "/rate/{rate_own}/next/", "rater"),
    Place("rate-pair-revealed", "/rate/{revealed}/pairs/1/", "rater"),
    Place("rate-ran", "/rate/{tested}/pairs/1/runs/{own_run}/", "rater"),
    Place("rate-answer", "/rate/{tested}/pairs/1/calls/{own_call}/", "rater"),
    Place("rate-strength", "/rate/{tested}/pairs/1/programs/{own_program}/strength/", "rater"),
    Place("rate-trial", "/rate/{tested}/pairs/1/trials/{own_trial}/", "rater"),
    Place("rate-pair-agents", "/rate/{rate_agents}/next/", "rater"),
    Place("rate-pair-of-two", "/rate/{rate_pairwise}/next/", "rater"),
    Place("api-docs", "/api/docs", "reader"),
    Place("admin", "/admin/", "admin"),
    Place("admin-prices", "/admin/annotation/price/", "admin"),
)


@dataclass
class Noise:
    """What a page said to the console that it should not have: errors, exceptions, breaches of its policy."""

    heard: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        page.on("console", self.hear)
        page.on("pageerror", lambda error: self.heard.append(f"exception: {error}"))

    def hear(self, message: ConsoleMessage) -> None:
        # A browser logs the status of a page that is meant to be 403 or 404; those of its files stay errors.
        own_status = message.text.startswith("Failed to load resource") and message.location["url"].endswith(
            "/"
        )
        if message.type == "error" and not own_status:
            self.heard.append(f"{message.text} ({message.location['url']})")


def press_tool(page: Page, key: str) -> None:
    """Press the key of a tool or a tag: the lead key comes before it."""
    page.keyboard.press(";")
    page.keyboard.press(key)


def until_keys_work(page: Page) -> None:
    """Wait until what has just come is settled, and for the moment after that in which keys are dead."""
    page.wait_for_function(QUIET)
    page.wait_for_timeout(DEAD_FOR_MS)


def cancel_conversion(page: Page, key: str, field: str) -> None:
    """Enter a field by its key and cancel the conversion of half a word by Escape: nothing else must happen.

    What is typed next has keys of labels and of movement. A second Escape leaves the field.
    """
    shown = page.locator("#case").get_attribute("data-case")
    for each in key.split():
        page.keyboard.press(each)
    expect(page.locator(field)).to_be_focused()
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": "にほn", "selectionStart": 3, "selectionEnd": 3})
    escape = {"type": "rawKeyDown", "key": "Escape", "code": "Escape", "windowsVirtualKeyCode": 229}
    session.send("Input.dispatchKeyEvent", escape)
    session.send("Input.imeSetComposition", {"text": "", "selectionStart": 0, "selectionEnd": 0})
    expect(page.locator(field)).to_be_focused()
    page.keyboard.type("21n")
    until_keys_work(page)
    expect(page.locator("#case")).to_have_attribute("data-case", shown or "")
    expect(page.locator(field)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(field)).not_to_be_focused()


def watched_page(context: BrowserContext) -> tuple[Page, Noise]:
    """A new page that reports each breach of the content security policy, and what it is heard to say."""
    noise, page = Noise(), context.new_page()
    page.add_init_script(REPORT_VIOLATIONS)
    noise.listen(page)
    return page, noise


def log_in(page: Page, url: str, name: str, password: str) -> None:
    page.goto(f"{url}/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda address: "/login/" not in address)


def overflow(page: Page) -> str:
    """What makes the page scroll sideways, empty where nothing does."""
    return str(page.evaluate(OVERFLOW))


class Api:
    """The API with the session of a logged-in browser."""

    def __init__(self, request: APIRequestContext, url: str) -> None:
        self.request = request
        self.url = url

    def get(self, path: str) -> dict[str, Any]:
        answer = self.request.get(f"{self.url}/api{path}")
        assert answer.ok, f"{path}: {answer.status} {answer.text()}"
        found: dict[str, Any] = answer.json()
        return found

    def post(self, path: str, data: Mapping[str, Any]) -> dict[str, Any]:
        cookies = self.request.storage_state()["cookies"]
        token = next(str(one["value"]) for one in cookies if one["name"] == "csrftoken")
        headers = {"X-CSRFToken": token, "Referer": self.url}
        answer = self.request.post(f"{self.url}/api{path}", data=dict(data), headers=headers)
        assert answer.ok, f"{path}: {answer.status} {answer.text()}"
        made: dict[str, Any] = answer.json()
        return made

    def collection(self, kind: str, name: str = "sample") -> int:
        rows = self.get(f"/collections?kind={kind}")["items"]
        return int(next(row["id"] for row in rows if row["name"] == name))

    def cases(self, build: int, **wanted: object) -> list[dict[str, Any]]:
        asked = "&".join(f"{name}={value}" for name, value in wanted.items())
        rows: list[dict[str, Any]] = self.get(f"/builds/{build}/cases?limit=100&{asked}")["items"]
        return rows


def arrived(page: Page, held: list[Route], count: int) -> Route:
    """The last of so many requests that are held; the page says that it runs before its request is there."""
    for _ in range(250):
        if len(held) == count:
            return held[-1]
        page.wait_for_timeout(20)
    raise AssertionError(f"{len(held)} of {count} requests were sent")
