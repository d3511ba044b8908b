"""Takes a picture of every page at both widths, light and dark, and checks that it is not blank and fits.

    scripts/screenshots.py [--out FOLDER] [--only NAME …] [--readme]

A server is started in a temporary folder, and the sample build is launched there. The exit status is 1 where
a page is blank, scrolls sideways or has another status than it should. `--readme` also renews the pictures in
docs/images.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from PIL import Image, ImageStat  # noqa: E402  # the checkout is put on the path first
from playwright.sync_api import Browser, BrowserContext, Page, expect  # noqa: E402

from tests.e2e import launching, rated, workbench  # noqa: E402
from tests.e2e.pages import HEIGHTS, NARROW, PLACES, WIDE, Api, Place, log_in, overflow  # noqa: E402
from tests.e2e.prepare import PASSWORD  # noqa: E402

SCHEMES: Final = ("light", "dark")
BLANK: Final = 4.0
"""A picture whose brightness has a smaller standard deviation is blank; that of the emptiest page is 9."""
COLOURS: Final = 128
LIVELY: Final = 30
"""Settled cases from which on the running build is pictured."""
CAST: Final = {"": "", "admin": "ada", "expert": "erin", "reader": "ray"}
RUNNING: Final = Place("build-running", "/builds/{build}/", "admin")
REASON: Final = "It keeps strings of blanks, which the query calls empty."


@dataclass(frozen=True)
class Studio:
    """A server with a build to look at, one browser context a role, and the ids of what is pictured."""

    url: str
    contexts: Mapping[str, BrowserContext]
    ids: Mapping[str, int]
    home: Path

    def address(self, place: Place) -> str:
        return self.url + place.path.format(**self.ids)


@dataclass(frozen=True)
class Shot:
    """One picture and what is wrong with it, empty where nothing is."""

    place: Place
    width: int
    scheme: str
    size: tuple[int, int]
    problem: str


def main() -> int:
    options = arguments()
    path = workbench.chromium_path()
    if path is None:
        print_line("Chromium is not installed: apt-get install chromium")
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    with workbench.chromium(path) as browser, studio(browser) as place:
        shots = list(taken(place, options))
    print_line(
        f"{len(shots)} pictures in {options.out}, {sum(bool(shot.problem) for shot in shots)} of them bad"
    )
    return int(any(shot.problem for shot in shots))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "screenshots")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="only these pages")
    parser.add_argument("--readme", action="store_true", help="also renew the pictures in docs/images")
    return parser.parse_args()


@contextmanager
def studio(browser: Browser) -> Iterator[Studio]:
    """A server on the sample's collections, with a person of each role logged in; nothing is built yet."""
    with tempfile.TemporaryDirectory(prefix="screenshots-") as folder:
        workbench.python(Path(folder), "-m", "tests.e2e.prepare")
        with workbench.serving(Path(folder)) as server:
            contexts = {role: logged_in(browser, server.url, name) for role, name in CAST.items()}
            yield Studio(server.url, contexts, {}, server.home)
            for context in contexts.values():
                context.close()


def logged_in(browser: Browser, url: str, name: str) -> BrowserContext:
    """A context for the account; with an empty name, one in which nobody is logged in."""
    context = browser.new_context(locale="en-GB", reduced_motion="reduce")
    if name:
        page = context.new_page()
        log_in(page, url, name, PASSWORD)
        page.close()
    return context


def taken(studio: Studio, options: argparse.Namespace) -> Iterator[Shot]:
    """Pictures of the sample build while it runs, then of every page."""
    print_line("Launching the sample build …")
    page = studio.contexts["admin"].new_page()
    build = launching.launch(page, studio.url, launching.Order("sample", "recorded"))
    launching.wait_until_settled(page, LIVELY)
    running = replace(studio, ids={"build": build})
    yield from pictures(running, options, [RUNNING])
    launching.wait_until(page, "done")
    page.close()
    yield from pictures(with_history(running), options, PLACES)


def with_history(running: Studio) -> Studio:
    """The studio with builds in other states, an expert's reviews and tests, and studies with a rater."""
    url, contexts, build = running.url, running.contexts, running.ids["build"]
    ids = launching.known_ids(Api(contexts["admin"].request, url), build)
    ids |= launching.more_builds(contexts["admin"], url, running.home)
    review_some(contexts["expert"], url, ids)
    ids["execution"] = launching.run_again(contexts["expert"], url, ids["case"])
    ids |= launching.written(running.home)
    ids["call"] = launching.called(contexts["expert"], url, ids["case"])
    ids |= launching.tried(contexts["expert"], url, ids)
    ids |= prepared(running, "rated")
    ids |= prepared(running, "ordered", ids["build"], ids["broken"])
    ids |= prepared(running, "judged", ids["function"])
    browser = contexts["admin"].browser
    assert browser is not None
    rater = logged_in(browser, url, rated.RATERS["rate_own"][0])
    return replace(running, ids=ids, contexts={**contexts, "rater": rater})


def pictures(studio: Studio, options: argparse.Namespace, places: Sequence[Place]) -> Iterator[Shot]:
    """Each page at each width and scheme, told as soon as it is there; and those for the README, if asked."""
    for place in places:
        if options.only and place.name not in options.only:
            continue
        page = studio.contexts[place.role].new_page()
        if options.readme:
            for picture in README:
                if picture.place == place.name:
                    picture_for_readme(page, studio, place, picture)
        for shot in shots_of(page, studio, place, options.out):
            mark = "BAD" if shot.problem else "ok "
            print_line(f"{mark} {place.name:22} {shot.width:5} {shot.scheme:5} {shot.problem}".rstrip())
            yield shot
        page.close()


def prepared(running: Studio, module: str, *rows: int) -> dict[str, int]:
    """What a module of the browser tests prepares, by the names that addresses give its ids."""
    ids: dict[str, int] = json.loads(
        workbench.python(running.home, "-m", f"tests.e2e.{module}", *map(str, rows))
    )
    return ids


def review_some(context: BrowserContext, url: str, ids: Mapping[str, int]) -> None:
    """Some labels, one of them against the agents, so that pages have a history to show."""
    page = context.new_page()
    for case, label in ((ids["case"] + 1, "0"), (ids["case"] + 2, "1"), (ids["screened"], "unsure")):
        page.goto(f"{url}/review/cases/{case}/")
        page.locator("#reason").fill(REASON if label == "0" else "")
        page.locator(f'button[name=label][value="{label}"]').first.click()
        expect(page.locator("#review-status")).not_to_be_empty()
    page.close()


def shots_of(page: Page, studio: Studio, place: Place, out: Path) -> Iterator[Shot]:
    for width, scheme in product((WIDE, NARROW), SCHEMES):
        show_page(page, studio, place, width, scheme)
        status = "" if place.status == status_of(page) else "another status than it should have"
        data = page.screenshot(full_page=True)
        (out / f"{place.name}-{width}-{scheme}.png").write_bytes(data)
        image = Image.open(BytesIO(data))
        yield Shot(place, width, scheme, image.size, status or overflow(page) or blank(image))


def show_page(page: Page, studio: Studio, place: Place, width: int, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    page.goto(studio.address(place))
    page.locator("main h1:visible, main h2:visible, #content h1, .swagger-ui h1").first.wait_for()
    settle(page)


def settle(page: Page) -> None:
    """Wait for the editor, where there is one, and for the connection's word."""
    if page.locator("textarea[data-editor]").count():
        page.locator(".cm-content").first.wait_for(state="attached")  # a pane that is not shown may have it
    if page.locator("[data-live-word]").count():
        page.locator("[data-live-word][data-said]").wait_for()


def status_of(page: Page) -> int:
    """The HTTP status of the page that is shown."""
    return int(page.evaluate("performance.getEntriesByType('navigation')[0].responseStatus"))


def blank(image: Image.Image) -> str:
    """Says that a picture is blank, empty where it is not."""
    spread = ImageStat.Stat(image.convert("L")).stddev[0]
    return "" if spread >= BLANK else f"blank: brightness varies by {spread:.1f} only"


@dataclass(frozen=True)
class Picture:
    """A picture for the README: its file, page, window and scheme."""

    file: str
    place: str
    window: tuple[int, int] = (WIDE, 900)
    scheme: str = "light"


README: Final = (
    Picture("review", "review-case-failed"),
    Picture("build", "build-running"),
    Picture("browse", "browse-build"),
    Picture("query", "query"),
    Picture("matches", "matches"),
    Picture("review-narrow-dark", "review-case-failed", (NARROW, 844), "dark"),
)


def picture_for_readme(page: Page, studio: Studio, place: Place, picture: Picture) -> None:
    """Take one picture of a window, with few colours so that the file stays small."""
    show_page(page, studio, place, picture.window[0], picture.scheme)
    image = Image.open(BytesIO(page.screenshot())).convert("RGB")
    path = ROOT / "docs" / "images" / f"{picture.file}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    with_few_colours(image).save(path, optimize=True)
    print_line(f"    {path.relative_to(ROOT)} {path.stat().st_size / 1000:.0f} kB")


def with_few_colours(image: Image.Image) -> Image.Image:
    """The picture in 256 colours: the most frequent as they are, and as many that cover what is rare."""
    colours, counts = np.unique(np.asarray(image).reshape(-1, 3), axis=0, return_counts=True)
    frequent = colours[np.argsort(-counts)[:COLOURS]].ravel().tolist()
    rare = image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette(frequent + rare)
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


def print_line(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
