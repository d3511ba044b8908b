"""Every page: no violation for axe-core, no breach of the content policy, no error, nothing overflows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]  # publishes no types
from playwright.sync_api import Browser, BrowserContext, Page

from tests.e2e.conftest import Watched, entered
from tests.e2e.pages import HEIGHTS, NARROW, PLACES, WIDE, Place, overflow, watched_page
from tests.e2e.workbench import Workbench

WHO = {"admin": "ada", "expert": "edda", "rater": "rick", "reader": "ray", "": ""}
TARGET_SIZE = {"target-size": {"enabled": True}}
"""The rule of WCAG 2.2 AA that axe-core leaves off by itself."""
FOREIGN = {"api-docs": {"heading-order": {"enabled": False}}}
"""Swagger's page begins its sections with an h3; no criterion of WCAG forbids it, nor is it ours."""
COLOURS_ALONE = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""Between the schemes nothing else differs: the elements, their places and their words are the same."""
RUN_AXE = """async (options) => (await axe.run(options)).violations"""
"""What passes is not sent: it is most of what axe-core finds, and nothing is asked about it."""
COLOURS_SETTLED = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  await frame().then(frame);
  document.body.style.display = "none";
  document.body.getBoundingClientRect();
  document.body.style.display = "";
  await frame().then(frame);
  const fading = document.getAnimations().filter((one) => one instanceof CSSTransition);
  await Promise.allSettled(fading.map((one) => one.finished));
}"""
"""Django's admin fades from one scheme to the other; halfway no contrast is right. And Chromium leaves the
old scheme's colour to lines that the editor adds in this moment: what is not displayed is styled anew.
"""


@dataclass(frozen=True)
class Look:
    """What one look at a page found; empty lists where all is well."""

    status: int
    noise: list[str]
    overflows: list[str]
    violations: list[str]


Looker = Callable[[Place], Look]


@pytest.fixture(scope="module")
def look(
    browser: Browser,
    server: Workbench,
    watched: Watched,
    other_builds: dict[str, int],
    executed: int,
    called: int,
    tried: dict[str, int],
    functions: dict[str, int],
    rated: dict[str, int],
    judged: dict[str, int],
    ordered: dict[str, int],
    sessions: dict[str, Any],
) -> Iterator[Looker]:
    """Looks at each page once, however many tests ask about it."""
    ids = watched.ids | other_builds | functions | tried | rated | judged | ordered
    ids |= {"execution": executed, "call": called}
    contexts = {role: entered(browser, server, sessions, name) for role, name in WHO.items()}
    known: dict[str, Look] = {}

    def once(place: Place) -> Look:
        if place.name not in known:
            found = examined(contexts[place.role], place, server.url + place.path.format(**ids))
            if any(
                "ERR_NETWORK_CHANGED" in one for one in found.noise
            ):  # said of the machine, not of the page
                found = examined(contexts[place.role], place, server.url + place.path.format(**ids))
            known[place.name] = found
        return known[place.name]

    yield once
    for context in contexts.values():
        context.close()


def examined(context: BrowserContext, place: Place, address: str) -> Look:
    page, noise = watched_page(context)
    page.set_viewport_size({"width": WIDE, "height": HEIGHTS[WIDE]})
    response = page.goto(address)
    page.locator("main h1:visible, main h2:visible, #content h1, .swagger-ui h1").first.wait_for()
    wanted = {"rules": TARGET_SIZE | FOREIGN.get(place.name, {})}
    page.evaluate(AXE_SCRIPT)
    violations = violations_of(page, "light", wanted) + violations_of(page, "dark", COLOURS_ALONE)
    overflows = [overflow(page)]
    page.set_viewport_size({"width": NARROW, "height": HEIGHTS[NARROW]})
    overflows.append(overflow(page))
    page.close()
    return Look(
        response.status if response else 0, noise.heard, [one for one in overflows if one], violations
    )


def violations_of(page: Page, scheme: Any, wanted: dict[str, Any]) -> list[str]:
    """What axe-core finds in one colour scheme of what is wanted, however slight."""
    page.emulate_media(color_scheme=scheme)
    for _ in range(2):  # what is wrong stays wrong; a colour of the other scheme does not
        page.evaluate(COLOURS_SETTLED)
        found = page.evaluate(RUN_AXE, {"resultTypes": ["violations"], **wanted})
        if not found:
            return []
    return [
        f"{scheme}: {one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes'][:3]]}"
        for one in found
    ]


every_page = pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)


@every_page
def test_it_is_accessible(look: Looker, place: Place) -> None:
    assert look(place).violations == []


@every_page
def test_it_is_there_and_quiet(look: Looker, place: Place) -> None:
    found = look(place)
    assert found.status == place.status
    assert found.noise == []


@every_page
def test_it_fits_both_widths(look: Looker, place: Place) -> None:
    assert look(place).overflows == []
