"""A real open server, `transformers serve`, with a model of random weights.

What such a model says is nonsense. It has to become an unusable reply, never a crash. Its packages take a
gigabyte: `make open-server`.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.agents import screener
from annotation.agents.replies import InvalidReply
from annotation.builds.limits.unusable_replies import STOPPED
from annotation.jobs import subprocesses, worker
from annotation.jobs.providers import create_configured_tools, get_provider_client
from annotation.llm import LLMError
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import GENERIC_CHAT, PROFILES, ProviderProfile, load_provider_profile
from annotation.models import Build, LLMCall, Tally
from tests import factories
from tests.annotation.builds.test_live_build import COUNTS, close_client, in_process, launched
from tests.ports import free_port

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).parents[3]
MODEL = "some-model"
"""The folder in which the server is started has a folder of this name."""
STARTS_WITHIN = 120.0
PAIR = screener.ScreenerInputs("python reverse a list", "def reverse(items):\n    return items[::-1]\n")
REQUEST = replace(screener.build_screener_request(PAIR, MODEL), max_tokens=400)
SAMPLED = replace(GENERIC_CHAT, sampling=("temperature", "top_p", "seed", "top_k"))


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as found:
            return bool(found.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + STARTS_WITHIN
    while not answers(url):
        if process.poll() is not None or time.monotonic() > until:
            pytest.fail(f"transformers serve did not start:\n{log.read_text()[-3000:]}")
        time.sleep(0.5)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of its own, which is stopped again."""
    place, python = tmp_path_factory.mktemp("open"), Path(os.environ["OPEN_SERVER_PYTHON"])
    told = os.environ | {"HF_HOME": str(place / "hub"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [str(python), str(ROOT / "scripts/make_tiny_model.py"), str(place / MODEL)],
        env=told,
        check=True,
        timeout=300,
    )
    port, log = free_port(), place / "log"
    command = [str(python.parent / "transformers"), "serve", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--device", "cpu", "--default-seed", "1"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=place, env=told, stdout=out, stderr=out)
    try:
        wait_for(f"http://127.0.0.1:{port}", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def client(server: str, profile: ProviderProfile = GENERIC_CHAT) -> closing[LiveLLM]:
    return closing(LiveLLM("", profile, base_url=server, timeout=120.0))


def test_reply_comes_as_text_with_what_it_cost_and_no_agent_can_use_it(server: str) -> None:
    with client(server) as llm:
        reply = llm.ask(REQUEST)
    assert reply.stop_reason in ("end_turn", "max_tokens")
    assert reply.text and reply.request_id and reply.model == f"{MODEL}@main"
    assert reply.usage.input_tokens > 1000 and 0 < reply.usage.output_tokens <= REQUEST.max_tokens
    with pytest.raises(InvalidReply):
        screener.ScreenerVerdict.of_reply(reply.text)


def test_reply_that_is_cut_off_says_so(server: str) -> None:
    with client(server) as llm:
        reply = llm.ask(replace(REQUEST, max_tokens=3))
    assert (reply.stop_reason, reply.usage.output_tokens) == ("max_tokens", 3)
    assert "cut off" in reply.defect


def test_server_that_takes_sampling_is_told_and_one_that_does_not_says_which(server: str) -> None:
    short = replace(REQUEST, max_tokens=3)
    with client(server, SAMPLED) as llm:
        assert llm.ask(replace(short, sampling={"temperature": 0.5, "seed": 3})).text
        with pytest.raises(LLMError, match=r"HTTP 422.*top_k") as caught:
            llm.ask(replace(short, sampling={"top_k": 3}))
    assert (caught.value.retryable, caught.value.provider) == (False, False)


def test_ways_that_the_server_passes_over_leave_a_reply_that_no_agent_can_use(server: str) -> None:
    """It takes a schema and does nothing with it: what comes is judged by what it says."""
    with client(server, PROFILES["vllm-openai"]) as llm:
        reply = llm.ask(replace(REQUEST, max_tokens=50))
        assert llm.mode_of(MODEL) == "json_schema"
    with pytest.raises(InvalidReply):
        screener.ScreenerVerdict.of_reply(reply.text)


def test_model_that_the_server_lacks_is_an_error_with_its_name(server: str) -> None:
    with client(server) as llm, pytest.raises(LLMError, match="HTTP 500, model no-such-model") as caught:
        llm.ask(replace(REQUEST, model="no-such-model"))
    assert caught.value.retryable


def test_wrong_protocol_is_told_as_one(server: str) -> None:
    with (
        client(server, PROFILES["generic"]) as llm,
        pytest.raises(LLMError, match="whether the server speaks the profile's protocol") as caught,
    ):
        llm.ask(REQUEST)
    assert caught.value.provider


def test_probe_finds_the_protocol_and_what_is_passed_over(
    server: str, tmp_path: Path, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.LLM_TIMEOUT = 120
    kept = tmp_path / "mine.toml"
    call_command("llm", "probe", "--base-url", server, "--model", MODEL, "--json", "--save", str(kept))
    found = json.loads(capsys.readouterr().out)
    said = {one["tried"]: (one["works"], one["told"]) for one in found["findings"]}
    assert said["Anthropic's Messages"][0] is False
    assert said["OpenAI's chat completions"][0] is True
    assert not any(said[way][0] for way in ("json schema", "forced tool", "json object"))
    assert said["sampling top_k"][0] is False and "top_k" in said["sampling top_k"][1]
    profile = load_provider_profile(str(kept))
    assert (profile.protocol, profile.ladder, profile.needs_key) == ("chat", ("prompt",), False)
    assert {"temperature", "top_p", "seed"} <= set(profile.sampling) and "min_p" not in profile.sampling


def test_build_stops_by_itself_at_nonsense_and_keeps_what_was_said(
    server: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocesses, "run_child_command", in_process)
    settings.LLM_PROFILE, settings.LLM_BASE_URL, settings.LLM_TIMEOUT = "generic-openai", server, 300
    get_provider_client.cache_clear()
    words = [f"reverse list number {number}" for number in range(40)]
    try:
        build = launched(queries=factories.queries(words, "forty"))
        shared = create_configured_tools()
        worker.until_idle(COUNTS, shared)
        shared.sandbox.close()
        close_client()
    finally:
        get_provider_client.cache_clear()
    build.refresh_from_db()
    assert (build.state, build.reason.startswith(STOPPED)) == (Build.State.PAUSED, True)
    calls = list(LLMCall.objects.filter(build=build))
    assert 10 <= len(calls) <= 12
    assert all(call.reply and call.output_tokens for call in calls)
    assert Tally.objects.get(build=build).reserved == 0
