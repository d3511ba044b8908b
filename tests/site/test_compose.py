"""compose.yaml, its image and docs/running.md say the same as the settings and the workers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from annotation.jobs.worker import QUEUES
from cosqa_site.settings import known_names

ROOT = Path(__file__).resolve().parents[2]
SOCKET = "/var/run/docker.sock"
REQUIRED = {"COSQA_SECRET_KEY": "x", "POSTGRES_PASSWORD": "x", "REDIS_PASSWORD": "x"}
START_OF_POSTGRES = {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"}
COMPOSE = shutil.which("docker-compose")


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return found


@pytest.fixture(scope="module")
def ours(services: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The services that run the workbench."""
    return {name: service for name, service in services.items() if "build" in service}


def variables(text: str) -> set[str]:
    """Names that a compose file takes from `.env`."""
    return set(re.findall(r"\$\{(\w+)", text))


def documented() -> set[str]:
    """Names in the first column of a table in docs/running.md."""
    rows = re.findall(r"^\| (`[^|]+`) \|", (ROOT / "docs/running.md").read_text(), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([A-Z][A-Z_]+)`", row)}


def test_only_the_sandboxs_workers_reach_the_engine(services: dict[str, dict[str, Any]]) -> None:
    reaching = {name for name, service in services.items() if SOCKET in str(service.get("volumes"))}
    assert reaching == {"worker-sandbox", "worker-interactive"}
    assert not any(service.get("privileged") for service in services.values())


def test_every_queue_has_a_worker_without_any_profile(ours: dict[str, dict[str, Any]]) -> None:
    commands = [str(service.get("command")) for service in ours.values() if "profiles" not in service]
    served = {
        queue
        for text in commands
        for names in re.findall(r"--queues (\S+)", text)
        for queue in names.split(",")
    }
    assert served == set(QUEUES)
    assert all("--pool threads" in text for text in commands if " worker " in text)


def test_what_people_wait_for_has_a_worker_to_itself(ours: dict[str, dict[str, Any]]) -> None:
    commands = [str(service.get("command")) for service in ours.values()]
    assert ["interactive"] in [re.findall(r"--queues (\S+)", text) for text in commands]


def test_redis_takes_no_snapshots_as_it_can_write_nowhere(services: dict[str, dict[str, Any]]) -> None:
    """By default it takes one after five minutes with 100 changes, and refuses writes once one failed."""
    redis = services["redis"]
    assert redis["read_only"] and "volumes" not in redis
    assert 'save ""' in redis["command"][-1].splitlines()


def test_one_beat_beats(ours: dict[str, dict[str, Any]]) -> None:
    assert [name for name, service in ours.items() if " beat " in str(service.get("command"))] == ["beat"]


def test_each_key_reaches_only_the_services_that_use_it(services: dict[str, dict[str, Any]]) -> None:
    def having(variable: str) -> set[str]:
        return {name for name, service in services.items() if variables_of(service) & {variable}}

    workers = {name for name in services if name.startswith("worker-")}
    assert having("COSQA_SECRET_KEY") == {"web"}
    assert having("ANTHROPIC_API_KEY") == having("EMAIL_URL") == {"web", "worker-llm"}
    assert having("COSQA_EMBEDDINGS_API_KEY") == {"web", "worker-llm", "worker-mining"}
    assert having("POSTGRES_PASSWORD") == {"web", "postgres", *workers}
    assert having("REDIS_PASSWORD") == {"web", "redis", "beat", *workers}


def variables_of(service: dict[str, Any]) -> set[str]:
    """Names that its environment takes from `.env`."""
    return variables(str(service["environment"]))


def test_no_service_has_rights_of_root_or_writes_to_its_image(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"], name
        assert set(service.get("cap_add", ())) <= (START_OF_POSTGRES if name == "postgres" else set()), name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"] is True, name
        assert service["mem_limit"], name


def test_no_command_line_has_a_password(services: dict[str, dict[str, Any]]) -> None:
    """Every user of the machine can read them; `$$` is left to the shell of the container."""
    commands = [str(service.get("command")) for service in services.values()]
    assert [re.findall(r"(?<!\$)\$\{?\w+", command) for command in commands] == [[]] * len(commands)
    image = (ROOT / "cosqa_site/Dockerfile").read_text()
    assert not re.search(r"^ARG", image, re.MULTILINE)
    for service in services.values():
        assert set(service.get("build", {}).get("args", {})) <= {"FTP_PROXY"}


def test_what_is_published_is_published_to_this_machine_alone(services: dict[str, dict[str, Any]]) -> None:
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert len(ports) == 1
    assert str(ports[0]).startswith("127.0.0.1:")


def test_every_setting_is_known(ours: dict[str, dict[str, Any]]) -> None:
    names = {name for service in ours.values() for name in service["environment"]}
    assert {name for name in names if name.startswith("COSQA_")} <= set(known_names())


def test_stages_are_there_and_none_needs_a_later_one(ours: dict[str, dict[str, Any]]) -> None:
    """The classic builder makes all stages up to the wanted one, so torch has to come last."""
    stages = re.findall(r"^FROM \S+ AS (\S+)", (ROOT / "cosqa_site/Dockerfile").read_text(), re.MULTILINE)
    assert stages == ["base", "wheel", "packages", "web", "mining"]
    targets = {name: service["build"]["target"] for name, service in ours.items()}
    assert targets.pop("worker-mining") == "mining"
    assert set(targets.values()) == {"web"}


def test_secrets_and_data_stay_out_of_the_image() -> None:
    assert {".env", ".git", "var", ".venv"} <= set((ROOT / ".dockerignore").read_text().split())


def test_every_setting_is_documented_and_nothing_else() -> None:
    settings = (ROOT / "cosqa_site/settings.py").read_text()
    read = set(re.findall(r'(?:text|url|choice|number|switch|day|origins)\(\s*"([A-Z_]+)"', settings))
    names = documented()
    assert sorted((set(known_names()) | read) - names) == []
    stray = {name for name in names if name.startswith("COSQA_")} - set(known_names())
    assert stray == set()


def test_everything_that_compose_asks_for_is_documented() -> None:
    asked = variables((ROOT / "compose.yaml").read_text())
    assert sorted(asked - documented()) == []
    assert asked >= set(REQUIRED)


@pytest.mark.skipif(COMPOSE is None, reason="docker-compose is not installed")
def test_compose_takes_the_file_and_asks_for_secrets(tmp_path: Path) -> None:
    assert COMPOSE
    command = [COMPOSE, "--file", str(ROOT / "compose.yaml"), "--project-directory", str(tmp_path)]
    plain = {k: v for k, v in os.environ.items() if k not in REQUIRED}
    runs = [
        subprocess.run(
            [*command, "config"], check=False, env=environment, capture_output=True, text=True, timeout=60
        )
        for environment in (plain | REQUIRED, plain)
    ]
    assert [run.returncode for run in runs] == [0, 1], runs[0].stderr
    assert "set it in .env" in runs[1].stderr
