"""Measures the review page with real pairs: what is seen at once, keys and time a pair, clicks to the first.

    scripts/measure_desk.py [--pairs N] [--reviews N] [--seed N] [--data FOLDER]

The demo is made in a temporary folder, with a build of pairs that are drawn from CoSQA's 604, and served.
Prints a table. The exit status is 1 where a figure misses what is wanted.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page  # noqa: E402  # the checkout is put on the path first

from tests.e2e import workbench  # noqa: E402
from tests.e2e.pages import CONTROLS, HEIGHTS, WIDE, log_in  # noqa: E402

SHORT_LINES: Final = 30
MOST_CONTROLS: Final = 30
MOST_MS: Final = 80
READING_MS: Final = 1700
"""Between two labels: a fast reader, and longer than the pause that ends a text."""

SEEN: Final = """() => {
  const isSeen = (element) => {
    const box = element.getBoundingClientRect();
    const isWithin = box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
    return box.height > 0 && isWithin;
  };
  const code = document.querySelector("#pane-code .code-scroll");
  const hidden = Math.max(code.scrollHeight - code.clientHeight, code.scrollWidth - code.clientWidth);
  return {
    lines: document.querySelectorAll("#pane-code .line").length,
    code: hidden <= 1 && isSeen(code),
    verdict: isSeen(document.querySelector(".verdict-line .sign")),
    tested: document.querySelector(".desk-tabs.has-test") !== null,
  };
}"""
WATCH: Final = """() => {
  window.took = [];
  window.pressed = 0;
  document.addEventListener("keydown", ({ timeStamp }) => {
    window.pressed += 1;
    const before = document.querySelector("#case").dataset.case;
    const look = () => {
      const now = document.querySelector("#case").dataset.case;
      if (!now || now === before) return requestAnimationFrame(look);
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => window.took.push(performance.now() - timeStamp);
        port2.postMessage(""); // heard after the frame was painted
      });
    };
    requestAnimationFrame(look);
  }, { capture: true });
}"""
BARE: Final = """() => {
  window.took = [];
  document.addEventListener("keydown", ({ key, timeStamp }) => {
    document.body.textContent = key + window.took.length;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.took.push(performance.now() - timeStamp);
      port2.postMessage("");
    });
  });
}"""
"""A page that writes one word for each key: what the machine and Chromium take of the time."""
BETWEEN_MS: Final = 200
PAIR: Final = "#case[data-case], #case [data-case], .deciding .desk-query"
"""What only a page has on which a pair is labelled or decided."""


@dataclass(frozen=True)
class Figure:
    """A line of the table: what is measured, what came out, what is wanted, and whether it is reached."""

    what: str
    found: str
    wanted: str = ""
    is_reached: bool = True

    @property
    def missed(self) -> str:
        return "" if self.is_reached else " **missed**"


def main() -> int:
    options = arguments()
    path = workbench.chromium_path()
    if path is None:
        say("Chromium is not installed: apt-get install chromium")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        workbench.manage(home, "demo", "--no-serve")
        file = options.data / "cosqa" / "cosqa-dev.json"
        made = workbench.python(
            home, "-m", "tests.e2e.real_pairs", str(file), str(options.pairs), str(options.seed)
        )
        with workbench.serving(home) as server, workbench.chromium(path) as browser:
            desk = Desk(browser, server.url, passwords_in(home))
            figures = [
                *seen_at_once(desk, int(made), options.pairs),
                *reviewed_by_keyboard(desk, int(made), options.reviews),
                bare_page(browser, options.reviews),
                *first_pair(desk),
            ]
    say(table(figures, options))
    return int(not all(figure.is_reached for figure in figures))


def arguments() -> argparse.Namespace:
    data = Path(os.environ.get("COSQA_TEST_DATA", ROOT.parent / "shared" / "data"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--reviews", type=int, default=50)
    parser.add_argument("--seed", type=int, default=27)
    parser.add_argument("--data", type=Path, default=data, help="the folder with CoSQA's files")
    return parser.parse_args()


def passwords_in(home: Path) -> dict[str, str]:
    lines = (home / "demo-accounts.txt").read_text().splitlines()
    return dict(line.split()[:2] for line in lines if line.strip())


@dataclass(frozen=True)
class Desk:
    """A browser before the server, and the demo's people."""

    browser: Browser
    url: str
    passwords: dict[str, str]

    def enter(self, who: str) -> Page:
        """A window of 1440 × 900 in which the person is logged in."""
        page = self.browser.new_context(viewport={"width": WIDE, "height": HEIGHTS[WIDE]}).new_page()
        log_in(page, self.url, who, self.passwords[who])
        return page


def seen_at_once(desk: Desk, build: int, count: int) -> list[Figure]:
    """Of each pair whether the whole function and the verdict are seen, and the controls in the window."""
    page, found = desk.enter("expert"), []
    address = f"{desk.url}/review/builds/{build}/?show=all"
    for _ in range(count):
        page.goto(address)
        page.wait_for_selector(".verdict-line .sign")
        found.append(page.evaluate(SEEN) | {"controls": len(page.evaluate(CONTROLS))})
        address = f"{desk.url}/review/builds/{build}/?show=all&after={case_on(page)}"
    page.context.close()
    short = [seen for seen in found if seen["lines"] <= SHORT_LINES]
    tested = [seen["controls"] for seen in found if seen["tested"]]
    read = [seen["controls"] for seen in found if not seen["tested"]]
    most = max(seen["controls"] for seen in found)
    return [
        share("function and verdict seen at once", found, 0.5),
        share(f"the same, functions of at most {SHORT_LINES} lines", short, 0.9),
        Figure("lines of a function, median", f"{statistics.median(seen['lines'] for seen in found):.0f}"),
        Figure("controls in the window, with a test", spread(tested)),
        Figure("controls in the window, decided by reading", spread(read)),
        Figure("controls in the window, most", str(most), f"≤ {MOST_CONTROLS}", most <= MOST_CONTROLS),
    ]


def share(what: str, found: Sequence[dict[str, Any]], wanted: float) -> Figure:
    whole = sum(seen["code"] and seen["verdict"] for seen in found)
    reached = bool(found) and whole / len(found) >= wanted
    return Figure(what, f"{whole} of {len(found)}", f"≥ {wanted:.0%}", reached)


def spread(numbers: Sequence[int]) -> str:
    if not numbers:
        return "none"
    return f"median {statistics.median(numbers):.0f}, {min(numbers)} to {max(numbers)}"


def reviewed_by_keyboard(desk: Desk, build: int, count: int) -> list[Figure]:
    """Agree with the verdicts of so many pairs: keys a pair, and the time until the next one is painted."""
    page = desk.enter("expert")
    page.goto(f"{desk.url}/review/builds/{build}/?show=all")
    page.evaluate(WATCH)
    page.wait_for_timeout(READING_MS)
    for _ in range(count):
        before = case_on(page)
        page.keyboard.press(agreeing(page))
        page.wait_for_timeout(READING_MS)  # a look for the next pair at each frame would take time from it
        page.wait_for_selector(f'#case[data-case]:not([data-case="{before}"])')
    took, pressed = sorted(page.evaluate("window.took")), page.evaluate("window.pressed")
    page.context.close()
    p95 = took[round(0.95 * (len(took) - 1))]
    return [
        Figure("keys a pair, where one agrees", f"{pressed / count:.2f}", "≤ 2", pressed <= 2 * count),
        Figure("label → next pair painted, median", f"{statistics.median(took):.0f} ms"),
        Figure("label → next pair painted, p95", f"{p95:.0f} ms", f"≤ {MOST_MS} ms", p95 <= MOST_MS),
        Figure("label → next pair painted, most", f"{took[-1]:.0f} ms"),
    ]


def bare_page(browser: Browser, count: int) -> Figure:
    """The same time on a page with one word, measured right after: it tells how busy the machine is."""
    page = browser.new_page()
    page.evaluate(BARE)
    for number in range(count):
        page.keyboard.press("01"[number % 2])
        page.wait_for_timeout(BETWEEN_MS)
    took = sorted(page.evaluate("window.took"))
    page.close()
    p95 = took[round(0.95 * (len(took) - 1))]
    return Figure(
        "the same on a page with one word, median and p95",
        f"{statistics.median(took):.0f} ms, {p95:.0f} ms",
    )


def case_on(page: Page) -> str:
    return page.locator("#case").get_attribute("data-case") or ""


def agreeing(page: Page) -> str:
    """The digit of what the agents said: the other label overrides them."""
    return "0" if page.locator('[data-overrides][value="1"]').count() else "1"


def first_pair(desk: Desk) -> list[Figure]:
    """The clicks from the page after the login to the first pair, as its main buttons lead."""
    return [clicks_of(desk, "expert", 1), clicks_of(desk, "rater", 2)]


def clicks_of(desk: Desk, who: str, wanted: int) -> Figure:
    page, started = desk.enter(who), time.monotonic()
    way: list[str] = []
    while not page.locator(PAIR).count() and len(way) < 12:
        fill_required(page, way)
        button = page.locator("main .button.primary:visible").first
        way.append(f"“{' '.join(button.inner_text().split()).replace(' :', ':')}”")
        button.click()
        page.wait_for_load_state()
    seconds = time.monotonic() - started
    page.context.close()
    return Figure(
        f"first pair, {who}",
        f"{len(way)} in {seconds:.0f} s: {' → '.join(way)}",
        f"≤ {wanted}",
        len(way) <= wanted,
    )


def fill_required(page: Page, way: list[str]) -> None:
    """What a form insists on; each field counts like a click."""
    for field in page.locator("main :is(input, select, textarea):required:visible").all():
        name = field.get_attribute("name") or "field"
        kind = field.get_attribute("type")
        if field.input_value() and kind not in {"checkbox", "radio"}:
            continue
        if kind in {"checkbox", "radio"}:
            field.check()
        elif field.evaluate("one => one.tagName") == "SELECT":
            field.select_option(index=1)
        else:
            field.fill("3" if kind == "number" else "English")
        way.append(f"({name})")


def table(figures: Sequence[Figure], options: argparse.Namespace) -> str:
    """Where, when and how it was measured, and the figures, for the page of docs."""
    how = (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()} with {os.cpu_count()} processors",
        f"load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}, SQLite",
        f"Chromium at {WIDE} × {HEIGHTS[WIDE]}",
        f"{options.pairs} pairs of CoSQA drawn with seed {options.seed}",
        f"{options.reviews} reviews by keyboard",
    )
    rows = (f"| {one.what} | {one.found} | {one.wanted}{one.missed} |" for one in figures)
    return "\n".join([f"{', '.join(how)}.", "", "| what | found | wanted |", "| --- | --- | --- |", *rows])


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")


if __name__ == "__main__":
    sys.exit(main())
