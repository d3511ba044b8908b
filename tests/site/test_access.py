"""Who may reach what, for every route there is: refused on the server, whatever a page shows.

A new route fails here until it is entered in roles.py: that is the moment to think about who may use it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.http import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation.accounts import roles
from annotation.models import Build, Case, Review
from tests import factories
from tests.site.roles import PUBLIC, ROLES, SIGNED_IN
from tests.site.samples import ASKED, WITHOUT, Samples, samples

pytestmark = pytest.mark.django_db

POSTED: Final[dict[str, dict[str, Any]]] = {
    "api:give_pairs": {"name": "given", "pairs": [{"query": "sort a list", "code": "def f(x): return x"}]},
    "api:cancel_extension": {},
    "api:compare_training_data": {"collection": "nonsense"},
    "api:plant_distractors": {"most": 0},
    "api:judge_similarity": {"depth": -1},
    "api:cancel_order": {},
    "api:choose_columns": {"query": "question"},
    "api:export_benchmark": {"seed": -1},
    "api:filter_collection": {"name": "tested", "filters": ["nonsense"]},
    "api:import_files": {},
    "api:join_study": {},
    "api:order_figures": {"metric": "mrr"},
    "api:publish_build": {"name": " "},
    "api:publish_corrections": {},
    "api:publish_study": {},
    "api:reproduce_figures": {"start": "replies"},
    "api:score_encoders": {"encoders": ["nonsense"]},
    "api:train_system": {"system": "nonsense"},
    "api:continue_order": {},
    "api:take_pin": {"kind": "leaderboard", "subject": "gone"},
    "api:upload_run": {},
    "api:estimate_again": {"name": "again", "start": "arbitrating"},
    "api:estimate_extension": {"k": 4},
    "api:estimate_functions": {"name": "more"},
    "api:extend_build": {"k": 4, "reason": "deeper"},
    "api:run_again": {"name": "again", "start": "arbitrating", "reason": "to see"},
    "api:change_cap": {"budget": "1", "reason": "more to do"},
    "api:change_review_rule": {"reviews_needed": 1, "reason": "one expert"},
    "api:launch_build": {},
    "api:take_replies": {"model": "small", "replies": [{"id": "0", "reply": "x"}]},
    "api:launch_several": {},
    "api:decide_pair": {"value": 1, "cause": "slip", "note": "so", "seen": 0},
    "api:decide": {"action": "reject", "seen_revision": 0},
    "api:take_back": {"seen_revision": 1},
    "api:order_functions": {"name": "more"},
    "api:merge_rounds": {"rule": "majority"},
    "api:make_study": {},
    "api:make_webhook": {},
    "api:control_study": {"action": "pause"},
    "api:resume_stopped": {},
    "api:estimate_build": {},
    "api:hold_pair": {"token": "t"},
    "api:keep_draft": {"field": "notes", "text": "so so"},
    "api:leave_study": {},
    "api:next_pair": {},
    "api:post_rating": {"token": "t", "choice": "1", "seen_revision": 0, "evidence": "a" * 64},
    "api:skip_pair": {"token": "t", "reason": "no idea"},
    "api:undo_rating": {},
    "api:remove_webhook": {},
    "api:send_delivery_again": {},
    "api:send_webhook_test": {},
    "api:set_webhook": {"on": False},
    "api:control_build": {"action": "cancel"},
    "api:post_review": {"label": 1, "seen_revision": 0, "evidence": "a" * 64},
    "api:undo_review": {"seen_revision": 1},
    "api:add_rater": {"user": "nobody", "condition": "reading", "capacity": 3},
    "api:amend_study": {"question": "which?"},
    "api:change_account": {"action": "nonsense"},
    "api:change_project_cap": {"budget": "1", "reason": "more to do"},
    "api:change_rater": {"action": "capacity", "capacity": 3},
    "api:choose_guideline": {"guideline": "nothing", "reason": "so"},
    "api:enter_price": {},
    "api:estimate_repeat": {"every": True},
    "api:estimate_study": {},
    "api:estimate_unjudged": {"run": "gone"},
    "api:give_up_ratings": {"reason": "nobody is left"},
    "api:invite_account": {"role": "nonsense"},
    "api:judge_unjudged": {"run": "gone"},
    "api:publish_unjudged": {"build": "gone"},
    "api:queue_unjudged": {"run": "gone"},
    "api:redraw_study": {},
    "api:repeat_pairs": {"text": "nowhere at all", "reason": "so"},
    "api:revoke_account_link": {},
    "api:score_study": {"versions": ["gone"]},
    "api:test_connection": {"base_url": "ftp://nowhere"},
    "api:write_guideline": {},
    "api:answer_case_flag": {"text": "mended"},
    "api:assign_pairs": {"cases": [1], "expert": "nobody"},
    "api:call_function": {"expression": "import os"},
    "api:call_rated_function": {"expression": "import os"},
    "api:carry_review_over": {"seen_revision": 0, "evidence": "a" * 64},
    "api:check_rater_strength": {},
    "api:check_strength": {},
    "api:comment_on_case": {"text": "look"},
    "api:cross_query_tests": {},
    "api:delete_list": {},
    "api:measure_quality": {},
    "api:restore_rating": {"seen_revision": 0},
    "api:restore_review": {"seen_revision": 0},
    "api:run_function_edit": {"code": " "},
    "api:run_rater_test": {"source": " "},
    "api:run_raters_tests": {},
    "api:run_test": {"source": " "},
    "api:save_list": {"name": "mine", "filters": "nothing=1"},
    "api:share_pairs": {"experts": ["nobody"]},
    "api:tag_pairs": {"cases": [1], "tag": "nothing"},
    "api:undo_pairs_change": {},
    "api:write_functions_again": {},
    "build-control": {"action": "cancel"},
    "review-list-change": {"action": "undo"},
    "review-list-saved": {"action": "save", "name": "mine"},
    "review-label": {"label": "1", "seen_revision": "0", "evidence": "a" * 64},
}
"""What is sent to routes that change something."""
BUILD, NOTE = "zanzibar", "the quokka in the code"


@dataclass(frozen=True)
class Route:
    """One route; `path` still has its parameters."""

    name: str
    path: str

    @property
    def methods(self) -> tuple[str, ...]:
        if not self.name.startswith("api:"):
            return "get", "post"
        # Two operations may share a path: what changes something is only asked by post.
        return ("post",) if self.name in POSTED else ("get",)


def routes(patterns: list[Any], path: str = "", space: str = "") -> Iterator[Route]:
    for pattern in patterns:
        here = path + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from routes(pattern.url_patterns, here, space + inner)
        elif isinstance(pattern, URLPattern):
            yield Route(f"{space}{pattern.name}", here)


def ours() -> list[Route]:
    """All routes but those of Django's admin, which has a test of its own."""
    return [route for route in routes(get_resolver().url_patterns) if not route.name.startswith("admin:")]


def entered() -> set[str]:
    return PUBLIC | SIGNED_IN | set().union(*ROLES.values())


@pytest.fixture
def case() -> Case:
    """A case with everything that a page can show, in a build whose name occurs nowhere else."""
    build = factories.opened(BUILD)
    first, second, third = factories.cases(build)[:3]
    factories.settled(second, 1, NOTE)
    factories.abandoned(third, NOTE)
    return factories.examined(first, 0)


@pytest.fixture
def given(case: Case) -> Samples:
    """A row for every argument of every route; what belongs to a rater is Rita's."""
    return samples(case)


def asked(user: User | None, route: Route, path: str) -> dict[str, HttpResponseBase]:
    """What `user` gets by each method. Each is asked by a browser of its own: one of the routes logs out."""
    found: dict[str, HttpResponseBase] = {}
    for method in route.methods:
        send = getattr(browser(user), method)
        found[method] = send(path) if method == "get" else send(path, **posted(route))
    return found


def browser(user: User | None) -> Client:
    """A browser of its own, in the session of `user`, who logs in again only where that was ended."""
    client = Client(raise_request_exception=False)
    if user:
        known = getattr(user, "session_of_tests", "")
        if not (known and Session.objects.filter(pk=known).exists()):
            client.force_login(user)
            user.session_of_tests = known = client.cookies["sessionid"].value  # type: ignore[attr-defined]
        client.cookies["sessionid"] = known
    return client


def posted(route: Route) -> dict[str, Any]:
    body = POSTED.get(route.name, {})
    return (
        {"data": body, "content_type": "application/json"}
        if route.name.startswith("api:")
        else {"data": body}
    )


def is_refused(route: Route, response: HttpResponseBase) -> bool:
    """Sent to the login, or told that the role does not suffice, or that nobody is signed in."""
    to_login = response.status_code == 302 and response.headers["Location"].startswith("/login/")
    return to_login or response.status_code in {401, 403}


def test_every_route_is_entered_once() -> None:
    names = [route.name for route in ours()]
    assert set(names) == entered()
    assert sum(len(names) for names in [PUBLIC, SIGNED_IN, *ROLES.values()]) == len(entered())


def test_every_argument_is_a_row_that_is_there(given: Samples) -> None:
    """Else a test of all routes compares one "not found" with another, and finds that nothing differs."""
    empty = {route.name for route in ours() if re.search(r"/0(/|$)", given.address(route.path))}
    assert empty == set(WITHOUT)
    assert set(ASKED) <= {route.name for route in ours()}


@pytest.mark.alike
def test_nobody_reaches_anything_without_a_login(given: Samples) -> None:
    for route in ours():
        for method, response in asked(None, route, given.address(route.path)).items():
            said = f"{method} {route.name}: {response.status_code}"
            assert is_refused(route, response) is (route.name not in PUBLIC), said
            if route.name.startswith("api:") and route.name not in PUBLIC | SIGNED_IN:
                assert response.status_code == 401, said


def reach(name: str) -> int:
    """The rank of the role that a route asks for; -1 where any login does."""
    return next((roles.RANK[role] for role, names in ROLES.items() if name in names), -1)


@pytest.mark.parametrize(
    "who", [*(pytest.param(who, marks=pytest.mark.alike) for who in ("nora", "ray", "erin")), "ada"]
)
def test_each_role_reaches_what_is_its_own_and_nothing_above(given: Samples, who: str) -> None:
    user: User = getattr(factories, who)()
    role = roles.role_of(user)
    rank = roles.RANK[role] if role else -1
    for route in (route for route in ours() if route.name not in {"login", "logout"}):
        if who == "erin" and 0 <= reach(route.name) < rank:
            continue  # Ray, below her, reaches it, and so does Ada above.
        responses = asked(user, route, given.address(route.path))
        told = f"{who} at {route.name}: { {m: r.status_code for m, r in responses.items()} }"
        assert all(response.status_code < 500 for response in responses.values()), told
        refused = [is_refused(route, response) for response in responses.values()]
        wrong_method = [response.status_code == 405 for response in responses.values()]
        if reach(route.name) > rank:
            assert any(refused), told
            assert all(no or other for no, other in zip(refused, wrong_method, strict=True)), told
        else:
            assert not any(refused), told
            assert not all(wrong_method), told


@pytest.mark.parametrize("who", ["nora", "ray", "erin"])
def test_the_admin_site_is_for_admins(who: str) -> None:
    client = Client()
    client.force_login(getattr(factories, who)())
    paths = [reverse("admin:index")] + [
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for model in admin.site._registry
    ]
    assert {client.get(path).status_code for path in paths} <= {302, 403}


@pytest.mark.alike
def test_what_the_one_predicate_hides_is_nowhere(given: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, fragments and operations all begin at `builds_visible_to`: empty it, and no build is left."""
    paths = {route: given.address(route.path) for route in ours()}
    shown = {route for route in paths if BUILD in told(route, paths[route])}
    assert {"browse", "dashboard", "api:list_builds"} <= {route.name for route in shown}
    hide_all_builds(monkeypatch)
    for route, path in paths.items():
        words = told(route, path)
        assert BUILD not in words, f"{route.name} shows a build that is hidden"
        assert NOTE not in words, f"{route.name} shows what was decided in a hidden build"


def told(route: Route, path: str) -> str:
    response = asked(factories.ada(), route, path).get("get")
    return getattr(response, "content", b"").decode()


def hide_all_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the predicate wherever it was imported.

    All that takes it from `access` has to be there before: what is imported meanwhile would keep the
    replacement, for the tests that come after in this process.
    """
    assert ours(), "to read the routes is to import their views"
    none = {
        "builds_visible_to": (roles.builds_visible_to, lambda user, **how: Build.objects.none()),
        "can_see_every_build": (roles.can_see_every_build, lambda user: False),
    }
    for module in list(sys.modules.values()):
        for name, (real, hidden) in none.items():
            if getattr(module, name, None) is real:
                monkeypatch.setattr(module, name, hidden)


@pytest.mark.alike
def test_what_is_hidden_can_not_be_changed_either(given: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Review.objects.count()
    hide_all_builds(monkeypatch)
    for route in ours():
        if re.search(r"(builds|cases|executions)/<", route.path):
            responses = asked(factories.ada(), route, given.address(route.path))
            assert {response.status_code for response in responses.values()} <= {404, 405}, route.name
    assert Build.objects.get(name=BUILD).state == Build.State.RUNNING
    assert Review.objects.count() == before
