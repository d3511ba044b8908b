"""`cosqa init`, `status` and `review`: a start, how far things are, and what waits for a person."""

from __future__ import annotations

import io
import json
import webbrowser
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.accounts.roles import Role, role_of
from annotation.models import Build, Case, LLMCall
from cosqa_site.service import sandbox_advice
from retrieval.models import Job
from tests import factories

pytestmark = pytest.mark.django_db


def run(command: str, *args: str) -> str:
    said = io.StringIO()
    call_command(command, *args, stdout=said)
    return said.getvalue()


def run_json(command: str, *args: str) -> Any:
    return json.loads(run(command, *args, "--json"))


def test_init_makes_an_admin_whose_password_works_and_is_shown_once() -> None:
    password = run_json("init", "--admin", "zoe")["password"]
    user = authenticate(username="zoe", password=password)
    assert isinstance(user, User)
    assert role_of(user) is Role.ADMIN
    again = run_json("init", "--admin", "other")
    assert (again["admin"], again["password"]) == ("zoe", None)
    assert User.objects.count() == 1
    assert "with the password that was set before" in run("init")


def test_init_makes_another_admin_where_the_first_is_closed() -> None:
    run("init", "--admin", "zoe")
    User.objects.update(is_active=False)
    assert run_json("init", "--admin", "yan")["admin"] == "yan"


def test_init_says_what_is_missing(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ANTHROPIC_API_KEY, settings.SANDBOX_BACKEND = "", "bubblewrap"
    monkeypatch.setattr("shutil.which", lambda name: None)
    told = run("init")
    assert "sudo apt install bubblewrap python3" in told
    assert "No key of a model" in told
    settings.ANTHROPIC_API_KEY, settings.SANDBOX_BACKEND = "sk-x", "none"
    assert run_json("init")["missing"] == []


@pytest.mark.parametrize(
    ("backend", "bubblewrap", "docker", "missing"),
    [
        ("auto", "/usr/bin/bwrap", "", False),
        ("auto", None, "unix:///run/docker.sock", False),
        ("auto", None, "", True),
        ("bubblewrap", None, "unix:///run/docker.sock", True),
        ("docker", "/usr/bin/bwrap", "", True),
        ("none", None, "", False),
    ],
)
def test_a_sandbox_is_missing_where_none_can_open(
    backend: str,
    bubblewrap: str | None,
    docker: str,
    missing: bool,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    settings.SANDBOX_BACKEND, settings.DOCKER_HOST = backend, docker
    monkeypatch.setattr("shutil.which", lambda name: bubblewrap)
    monkeypatch.setattr(sandbox_advice, "DOCKER_SOCKET", tmp_path / "none.sock")
    assert sandbox_advice.find_missing_sandbox() == (sandbox_advice.MISSING if missing else "")


def test_where_celery_does_the_work_this_machine_needs_no_sandbox(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SANDBOX_BACKEND, settings.CELERY_BROKER_URL = "bubblewrap", "redis://127.0.0.1:1/0"
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert sandbox_advice.find_missing_sandbox() == ""


def test_status_of_an_installation_without_builds_says_how_to_launch_one() -> None:
    assert run("status") == "No build yet: 'cosqa build --help' shows how to launch one.\n"
    assert run_json("status") == {"builds": [], "orders": []}


@pytest.fixture
def build() -> Build:
    """Three cases: one a match, one that could not be judged, one that is open."""
    build = factories.opened("autumn", k=3)
    cases = factories.cases(build)[:3]
    factories.settled(cases[0], 1)
    factories.abandoned(cases[1])
    return build


def test_status_counts_what_could_not_be_judged_apart(build: Build) -> None:
    total = Case.objects.filter(build=build).count()
    [found] = run_json("status")["builds"]
    assert (found["cases"], found["settled"], found["abandoned"], found["matches"]) == (total, 1, 1, 1)
    assert f"autumn: Running, 1 of {total} cases settled, 1 could not be judged, 1 matches" in run("status")


def test_status_counts_requests_without_a_reply(build: Build) -> None:
    Build.objects.update(provider=Build.Provider.EXCHANGE)
    call = factories.llm_call(Case.objects.latest("pk"), "screener", {})
    LLMCall.objects.filter(pk=call.pk).update(status=LLMCall.Status.WAITING)
    assert run_json("status", "autumn")["builds"][0]["waiting_replies"] == 1
    assert "1 request without a reply (cosqa exchange)" in run("status")


def test_status_lists_open_orders_and_one_build_has_none_of_them(build: Build) -> None:
    job = factories.import_job(done=3, total=9, message="reading")
    factories.import_job(state=Job.State.DONE)
    assert [row["id"] for row in run_json("status")["orders"]] == [job.pk]
    assert f"order {job.pk}, Import: Waiting, 3 of 9. reading" in run("status")
    assert run_json("status", "autumn")["orders"] == []


def test_status_of_a_build_that_is_not_there_is_refused() -> None:
    with pytest.raises(CommandError, match="no build called 'x'"):
        run("status", "x")


def test_review_without_anybody_who_can_says_what_to_do() -> None:
    with pytest.raises(CommandError, match="'cosqa init' makes an admin"):
        run("review")


def test_review_lists_what_waits_with_addresses(build: Build) -> None:
    factories.erin()
    [row] = run_json("review", "--address", "http://lab:9000/")["work"]
    assert row["url"] == f"http://lab:9000/review/builds/{build.pk}/"
    assert f"Review: autumn, 1 pair to check: {row['url']}" in run("review", "--address", "http://lab:9000")
    assert run_json("review")["user"] == "ada", "the first who may"


def test_review_of_one_build_leaves_the_others_out(build: Build) -> None:
    factories.erin()
    other = factories.opened("spring")
    factories.settled(factories.cases(other)[0], 1)
    assert [row["name"] for row in run_json("review", "spring")["work"]] == ["spring"]
    assert len(run_json("review")["work"]) == 2


def test_review_for_somebody_else_needs_a_role() -> None:
    factories.erin()
    factories.ray()
    assert run("review", "--user", "erin") == "Nothing waits for erin.\n"
    with pytest.raises(CommandError, match="cosqa admin account ray --role expert"):
        run("review", "--user", "ray")


def test_review_opens_the_first_page_where_asked(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url))
    factories.erin()
    run("review")
    assert opened == []
    run("review", "--open")
    assert opened == [f"http://127.0.0.1:8000/review/builds/{build.pk}/"]
