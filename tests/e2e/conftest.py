"""Tests in a real browser: one sample build launched by its form, one server and one Chromium a process."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

    from tests.e2e.homes import KeptHome
    from tests.e2e.workbench import Workbench

PATIENCE_MS = 20_000
"""Nothing waits so long on a machine of its own; on a busy one a slow answer is not a wrong one."""
HERE = Path(__file__).parent
CONTEXT: dict[str, Any] = {"locale": "en-GB", "reduced_motion": "reduce"}

FIRST = "test_pages", "test_memory", "test_paid_build"
"""The file with most tests, and those that do without the sample build."""

Login = Callable[..., "BrowserContext"]


def pytest_itemcollected(item: pytest.Item) -> None:
    """All tests of this folder are marked, so that `-m "not browser"` leaves them out."""
    item.add_marker("browser")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last and together.

    Playwright keeps an event loop running in this thread, and while one runs Django refuses its database to
    all other tests. While one process makes the home for `FIRST`, another has tests that do not wait for it.
    """
    places = {HERE / f"{name}.py": place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: (HERE in item.path.parents, places.get(item.path, len(FIRST))))


def missing(what: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}; CI must have it")
    pytest.skip(what)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    from playwright.sync_api import expect

    from tests.e2e.workbench import chromium, chromium_path

    expect.set_options(timeout=PATIENCE_MS)
    path = chromium_path()
    if path is None:
        missing("Chromium is not installed (apt-get install chromium-headless-shell)")
    with chromium(path) as one:
        yield one


@pytest.fixture(scope="session")
def kept_homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where homes are kept that all processes of this run copy."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "homes"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def prepared(kept_homes: Path) -> KeptHome:
    """A home with the sample's collections, the cast of `prepare` and its studies; nothing is built yet."""
    from tests.e2e.homes import keep_once, prepare

    if shutil.which("bwrap") is None:
        missing("bubblewrap is not installed (apt-get install bubblewrap)")
    return keep_once(kept_homes / "prepared", prepare)


@pytest.fixture(scope="session")
def built(browser: Browser, prepared: KeptHome, kept_homes: Path) -> KeptHome:
    """The same home after the sample build, which was launched by its form and watched to its end."""
    from tests.e2e.homes import keep_once
    from tests.e2e.workbench import serving

    def build(kept: KeptHome) -> None:
        prepared.copy_to(kept.home)
        with serving(kept.home) as running:
            kept.note("watched.json", json.dumps(asdict(watch_build(browser, running))))

    return keep_once(kept_homes / "built", build)


@pytest.fixture(scope="session")
def server(built: KeptHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """`manage.py serve` on a home in which the sample is built."""
    from tests.e2e.homes import serving_copy

    with serving_copy(built, tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="session")
def sessions() -> dict[str, Any]:
    """The cookies of each person who has logged in once."""
    return {}


@pytest.fixture
def login(browser: Browser, server: Workbench, sessions: dict[str, Any]) -> Iterator[Login]:
    """A fresh browser context of a person; `login("ada")`, or `login("")` for nobody."""
    opened: list[BrowserContext] = []

    def enter(name: str, **options: Any) -> BrowserContext:
        opened.append(entered(browser, server, sessions, name, **options))
        return opened[-1]

    yield enter
    for context in opened:
        context.close()


def entered(
    browser: Browser, server: Workbench, sessions: dict[str, Any], name: str, **options: Any
) -> BrowserContext:
    """A context with the session of `name`, who logs in by the form the first time."""
    from tests.e2e.pages import log_in
    from tests.e2e.prepare import PASSWORD

    if name and name not in sessions:
        first = browser.new_context(**CONTEXT)
        log_in(first.new_page(), server.url, name, PASSWORD)
        sessions[name] = first.storage_state()
        first.close()
    return browser.new_context(**CONTEXT, storage_state=sessions.get(name), **options)


@dataclass(frozen=True)
class Watched:
    """A build watched from launch to end, and the funnels that two pages showed without a reload."""

    build: int
    live: list[str]
    polled: list[str]
    live_words: list[str]
    polled_words: list[str]
    reloaded: bool
    ids: dict[str, int]


def watch_build(browser: Browser, server: Workbench) -> Watched:
    """The sample build, launched by its form; one page follows it by websocket, one with that blocked."""
    from tests.e2e.launching import Order, known_ids, launch, wait_until
    from tests.e2e.pages import Api

    sessions: dict[str, Any] = {}
    admin = entered(browser, server, sessions, "ada")
    blocked = entered(browser, server, sessions, "ada")
    blocked.route_web_socket("**/ws/**", lambda route: route.close())
    live, polled = admin.new_page(), blocked.new_page()
    build = launch(live, server.url, Order("the sample", "recorded"))
    record_funnels(live)
    polled.goto(live.url)
    record_funnels(polled)
    wait_until(live, "done")
    wait_until(polled, "done")
    found = Watched(
        build=build,
        live=live.evaluate("window.funnels"),
        polled=polled.evaluate("window.funnels"),
        live_words=live.evaluate("[...window.words]"),
        polled_words=polled.evaluate("[...window.words]"),
        reloaded=not all(page.evaluate("window.isTheSame === true") for page in (live, polled)),
        ids=known_ids(Api(admin.request, server.url), build),
    )
    admin.close()
    blocked.close()
    return found


@pytest.fixture(scope="session")
def watched(built: KeptHome) -> Watched:
    """What was seen of the sample build, and its ids, which are the same in each copy."""
    return Watched(**json.loads(built.read("watched.json")))


@pytest.fixture(scope="session")
def other_builds(
    browser: Browser, server: Workbench, watched: Watched, sessions: dict[str, Any]
) -> dict[str, int]:
    """A build that waits for replies by file, one that had to abandon cases, and one in two rounds."""
    from tests.e2e.launching import more_builds

    admin = entered(browser, server, sessions, "ada")
    made = more_builds(admin, server.url, server.home)
    admin.close()
    return made


@pytest.fixture(scope="session")
def executed(browser: Browser, server: Workbench, watched: Watched, sessions: dict[str, Any]) -> int:
    """The id of an execution that Edda asked for."""
    from tests.e2e.launching import run_again

    expert = entered(browser, server, sessions, "edda")
    made = run_again(expert, server.url, watched.ids["case"])
    expert.close()
    return made


@pytest.fixture(scope="session")
def called(browser: Browser, server: Workbench, watched: Watched, sessions: dict[str, Any]) -> int:
    """The id of a call that Edda made."""
    from tests.e2e.launching import called as call

    expert = entered(browser, server, sessions, "edda")
    made = call(expert, server.url, watched.ids["case"])
    expert.close()
    return made


@pytest.fixture(scope="session")
def tried(browser: Browser, server: Workbench, watched: Watched, sessions: dict[str, Any]) -> dict[str, int]:
    """The ids of a test whose strength Edda has found out, and of one of its runs."""
    from tests.e2e.launching import tried as find_out

    expert = entered(browser, server, sessions, "edda")
    made = find_out(expert, server.url, watched.ids)
    expert.close()
    return made


@pytest.fixture(scope="session")
def functions(server: Workbench, watched: Watched) -> dict[str, int]:
    """A job of written functions that wait for an expert, and one whose functions are all decided about."""
    from tests.e2e.launching import written

    return written(server.home)


@pytest.fixture(scope="session")
def rated(prepared: KeptHome) -> dict[str, int]:
    """Studies by name, each with the rater that `tests.e2e.rated` names."""
    from tests.e2e.homes import rated_in

    return rated_in(prepared)


@pytest.fixture(scope="session")
def judged(server: Workbench, functions: dict[str, int], rated: dict[str, int]) -> dict[str, int]:
    """Studies in which something was done, and rows of a few other pages."""
    from tests.e2e.workbench import python

    ids: dict[str, int] = json.loads(
        python(server.home, "-m", "tests.e2e.judged", str(functions["function"]))
    )
    return ids


@pytest.fixture(scope="session")
def ordered(server: Workbench, watched: Watched, other_builds: dict[str, int]) -> dict[str, int]:
    """A benchmark on whose pages, as on those of two builds, orders run and have ended."""
    from tests.e2e.workbench import python

    builds = str(watched.build), str(other_builds["broken"])
    ids: dict[str, int] = json.loads(python(server.home, "-m", "tests.e2e.ordered", *builds))
    return ids


def record_funnels(page: Page) -> None:
    """From now on each funnel and each word on the connection is noted; a reload would lose the notes."""
    page.evaluate("""() => {
      window.isTheSame = true;
      window.funnels = [];
      window.words = new Set();
      const word = document.querySelector("[data-live-word]");
      const note = () => {
        const shown = document.querySelector("[data-funnel]")?.dataset.funnel.trim();
        if (shown && shown !== window.funnels.at(-1)) window.funnels.push(shown);
        if (word.dataset.said) window.words.add(word.dataset.said);
      };
      note();
      new MutationObserver(note).observe(document.body, { childList: true, subtree: true });
    }""")
