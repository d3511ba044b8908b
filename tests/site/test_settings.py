"""Settings are read once, from the environment; a wrong value stops the start and says what was expected."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from sandbox.pip_install import PACKAGES_AS_OF

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "cosqa_site" / "settings.py"
GIVEN_KEY = "0123456789abcdef" * 2
KEYS = ("ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY")
OTHERS = (*KEYS, "CELERY_BROKER_URL", "DATABASE_URL", "REDIS_URL")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """No setting but a data folder."""
    for name in os.environ:
        if name.startswith("COSQA_") or name in OTHERS:
            monkeypatch.delenv(name)
    monkeypatch.setenv("COSQA_HOME", str(tmp_path / "data"))
    return monkeypatch


def read() -> dict[str, Any]:
    """The settings as a new process would read them."""
    return runpy.run_path(str(FILE))


WRONG = [
    ("COSQA_DEBUG", "maybe", "true or false"),
    ("COSQA_SECURE", "2", "true or false"),
    ("COSQA_SANDBOX", "podman", "auto, bubblewrap, docker, none"),
    ("COSQA_SANDBOX", "Docker", "auto, bubblewrap, docker, none"),
    ("COSQA_LLM_PROFILE", "gpt", "anthropic"),
    ("COSQA_LLM_TOKENIZER", "/nowhere/tokenizer.json", "the path of a tokenizer.json"),
    ("COSQA_LLM_TIMEOUT", "0.5", "from 5 to 3600"),
    ("COSQA_LLM_WORKERS", "0", "from 1 to 256"),
    ("COSQA_LLM_WORKERS", "four", "from 1 to 256"),
    ("COSQA_SANDBOX_WORKERS", "-1", "from 1 to 256"),
    ("COSQA_SANDBOX_WORKERS", "1.5", "from 1 to 256"),
    ("COSQA_LLM_BASE_URL", "api.example.com", "https://"),
    ("COSQA_LLM_BASE_URL", "file:///etc/passwd", "https://"),
    ("COSQA_DOCKER_HOST", "/var/run/docker.sock", "unix://"),
    ("COSQA_LOG_LEVEL", "LOUD", "WARNING"),
    ("COSQA_LLM_WORKERS", "--5", "from 1 to 256"),
    ("COSQA_LLM_WORKERS", "²", "from 1 to 256"),
    ("COSQA_DOCKER_HOST", "unix:", "unix://PATH"),
    ("COSQA_DOCKER_HOST", "tcp://host:99999", "tcp://"),
    ("COSQA_PIP_CUTOFF", "tomorrow", "2026-01-31, or none"),
    ("COSQA_PIP_UNDATED", "perhaps", "true or false"),
    ("COSQA_SANDBOX_LAYERS_GB", "0", "from 1 to 10000"),
    ("COSQA_PIP_CUTOFF", "2026-02-31", "2026-01-31"),
    ("COSQA_SANDBOX_USERS", "60800", "FIRST-LAST"),
    ("COSQA_SANDBOX_USERS", "60800-60801", "16 users or more"),
    ("COSQA_SANDBOX_USERS", "0-1000", "without root"),
    ("COSQA_ALLOWED_HOSTS", "https://example.com", "without scheme and port"),
    ("COSQA_ALLOWED_HOSTS", "example.com:8000", "without scheme and port"),
    ("COSQA_ALLOWED_HOSTS", "one.example two.example", "after commas"),
    ("COSQA_TRUSTED_ORIGINS", "example.com", "https://HOST"),
    ("COSQA_PREFIX", "wb", "a path such as /wb"),
    ("COSQA_PREFIX", "/wb?x", "a path such as /wb"),
    ("COSQA_PREFIX", "//host", "a path such as /wb"),
    ("COSQA_PREFIX", "/../wb", "a path such as /wb"),
    ("COSQA_CANARY_ABOVE", "-1", "from 0 to"),
    ("COSQA_CANARY_CASES", "9", "from 10 to 10000"),
    ("COSQA_DOWNLOAD_MB", "0", "from 1 to 1000000"),
    ("COSQA_DOWNLOAD_PRIVATE", "some", "true or false"),
    ("COSQA_EXPORT_DAYS", "-1", "from 0 to 36500"),
    ("COSQA_RUNS_PER_MINUTE", "0", "from 1 to 100000"),
    ("COSQA_SESSION_HOURS", "0", "from 1 to 8760"),
    ("COSQA_TOKEN_DAYS", "0", "from 1 to 3650"),
    ("COSQA_NOTIFY_EMAIL", "nobody", "an e-mail address"),
    ("COSQA_NOTIFY_FROM", "nobody", "one e-mail address"),
    ("COSQA_NOTIFY_FROM", "a@b.org\nBcc: c@d.org", "one e-mail address"),
    ("COSQA_NOTIFY_FROM", "a@b.org, c@d.org x@", "one e-mail address"),
    ("COSQA_NOTIFY_COMMAND", "hook 'half a quote", "a program and its arguments"),
    ("COSQA_NOTIFY_SECONDS", "0", "from 1 to 120"),
    ("COSQA_OIDC_ISSUER", "http://id.example.org", "https://HOST"),
    ("COSQA_OIDC_ISSUER", "id.example.org", "https://HOST"),
    ("COSQA_OIDC_ROLES", "staff=king", "a role is reader or expert or admin"),
    ("COSQA_OIDC_ROLES", "=admin", "GROUP=ROLE"),
    ("COSQA_OIDC_UNKNOWN", "admin", "one of none, reader, expert"),
    ("EMAIL_URL", "mail.example.org", "smtp://"),
    ("REDIS_URL", "redis://[::1", "redis://"),
    ("REDIS_URL", "localhost:6379", "redis://"),
    ("DATABASE_URL", "postgres://host:port/name", "postgres://"),
    ("DATABASE_URL", "postgres://host/", "HOST/NAME"),
    ("DATABASE_URL", "sqlite:////elsewhere.db", "postgres://"),
    ("CELERY_BROKER_URL", "memory://", "redis://"),
    ("DATABASE_URL", "mysql://host/name", "postgres://"),
    ("DATABASE_URL", "/var/lib/db.sqlite3", "postgres://"),
]


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_a_wrong_value_stops_the_start_and_says_what_was_expected(
    environment: pytest.MonkeyPatch, name: str, value: str, expected: str
) -> None:
    environment.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as told:
        read()
    message = str(told.value)
    # A command's arguments may be passwords, so it is not repeated.
    shown = "" if name == "COSQA_NOTIFY_COMMAND" else f"={value!r}"
    assert message.startswith(f"{name}{shown}: expected")
    assert expected in message


def test_the_size_of_the_pool_is_read_where_there_is_one(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("COSQA_DATABASE_POOL", "1")
    environment.setenv("DATABASE_URL", "postgres://user@host/name")
    with pytest.raises(ImproperlyConfigured, match=r"COSQA_DATABASE_POOL='1': expected .* 2 to 500"):
        read()


def test_groups_may_be_names_of_a_directory(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("COSQA_OIDC_ROLES", "cn=staff,ou=lab=admin; students = expert;")
    assert read()["OIDC_ROLES"] == {"cn=staff,ou=lab": "admin", "students": "expert"}


def test_an_issuer_needs_a_client(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("COSQA_OIDC_ISSUER", "http://localhost:9000/realm")
    with pytest.raises(ImproperlyConfigured, match="COSQA_OIDC_CLIENT_ID: expected"):
        read()
    environment.setenv("COSQA_OIDC_CLIENT_ID", "workbench")
    assert read()["OIDC_ISSUER"] == "http://localhost:9000/realm"


def test_hosts_may_have_blanks_after_their_commas(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("COSQA_ALLOWED_HOSTS", "one.example, .two.example, [::1], *")
    assert read()["ALLOWED_HOSTS"] == ["one.example", ".two.example", "[::1]", "*"]


def test_a_misspelt_name_stops_the_start(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("COSQA_SANDBOXES", "none")
    with pytest.raises(ImproperlyConfigured, match=r"COSQA_SANDBOXES: no such setting.* COSQA_SANDBOX,"):
        read()


def test_a_data_folder_that_can_not_be_made_stops_the_start(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    environment.setenv("COSQA_HOME", str(tmp_path / "file"))
    with pytest.raises(ImproperlyConfigured, match="expected a folder"):
        read()


def test_without_any_setting_it_is_one_machine(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = read()
    database = found["DATABASES"]["default"]
    assert database["NAME"] == tmp_path / "data" / "workbench.sqlite3"
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "WAL" in database["OPTIONS"]["init_command"]
    assert (found["DEBUG"], found["CELERY_BROKER_URL"], found["ANTHROPIC_API_KEY"]) == (False, "", "")
    assert found["SANDBOX_BACKEND"] == "auto"
    assert "CHANNEL_LAYERS" not in found


@pytest.mark.parametrize("name", ["COSQA_ALLOWED_HOSTS", "DATABASE_URL", "REDIS_URL", "COSQA_DOCKER_HOST"])
def test_an_empty_value_is_the_default(environment: pytest.MonkeyPatch, name: str) -> None:
    usual = read()
    environment.setenv(name, "")
    told = read()
    settings = ("ALLOWED_HOSTS", "DATABASES", "REDIS_URL", "DOCKER_HOST")
    assert [told[setting] for setting in settings] == [usual[setting] for setting in settings]


@pytest.mark.parametrize(
    ("given", "read_as"), [("", PACKAGES_AS_OF), ("none", ""), ("2026-01-31", "2026-01-31")]
)
def test_packages_are_cut_off_at_a_day(environment: pytest.MonkeyPatch, given: str, read_as: str) -> None:
    environment.setenv("COSQA_PIP_CUTOFF", given)
    assert read()["PIP_CUTOFF"] == read_as


@pytest.mark.parametrize(
    ("profile", "address"),
    [
        ("", "https://api.anthropic.com"),
        ("openai", "https://api.openai.com"),
        ("ollama-openai", "http://localhost:11434"),
        ("generic-openai", "https://api.openai.com"),
        ("generic", "https://api.anthropic.com"),
    ],
)
def test_provider_is_where_its_profile_says_unless_told_otherwise(
    environment: pytest.MonkeyPatch, profile: str, address: str
) -> None:
    environment.setenv("COSQA_LLM_PROFILE", profile)
    assert read()["LLM_BASE_URL"] == address
    environment.setenv("COSQA_LLM_BASE_URL", "http://models:8080")
    assert read()["LLM_BASE_URL"] == "http://models:8080"


def test_each_part_is_switched_to_the_real_thing(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("DATABASE_URL", "postgres://user:secret@db:5433/bench")
    environment.setenv("REDIS_URL", "redis://cache:6379/1")
    environment.setenv("ANTHROPIC_API_KEY", "sk-test")
    environment.setenv("COSQA_LLM_BASE_URL", "http://models:8080")
    environment.setenv("COSQA_SANDBOX", "docker")
    found = read()
    database = found["DATABASES"]["default"]
    assert (database["ENGINE"], database["HOST"], database["PORT"]) == (
        "django.db.backends.postgresql",
        "db",
        5433,
    )
    assert database["CONN_MAX_AGE"] == 0
    assert database["OPTIONS"]["pool"]["max_size"] == 10
    assert found["CELERY_BROKER_URL"] == found["REDIS_URL"] == "redis://cache:6379/1"
    assert found["LLM_BASE_URL"] == "http://models:8080"


@pytest.mark.parametrize("value", ["true", "YES", "on", "1"])
def test_switches_take_the_usual_words(environment: pytest.MonkeyPatch, value: str) -> None:
    environment.setenv("COSQA_SECURE", value)
    found = read()
    assert (
        found["SESSION_COOKIE_SECURE"] is found["CSRF_COOKIE_SECURE"] is found["SECURE_SSL_REDIRECT"] is True
    )
    assert found["SECURE_HSTS_SECONDS"] > 0


def test_the_secret_key_is_made_once_and_for_its_owner_alone(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, second = read()["SECRET_KEY"], read()["SECRET_KEY"]
    assert first == second
    assert len(first) > 50
    assert (tmp_path / "data" / "secret-key").stat().st_mode & 0o077 == 0
    environment.setenv("COSQA_SECRET_KEY", GIVEN_KEY)
    assert read()["SECRET_KEY"] == GIVEN_KEY


def test_a_value_that_begins_with_a_dollar_is_read_as_it_stands(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("COSQA_SECRET_KEY", f"${GIVEN_KEY}")
    environment.setenv("COSQA_NOTIFY_COMMAND", "$HOOK --now")
    environment.setenv("HOOK", "other")
    found = read()
    assert found["SECRET_KEY"] == f"${GIVEN_KEY}"
    assert found["NOTIFY_COMMAND"] == ["$HOOK", "--now"]


@pytest.mark.parametrize("value", ["a", "changeme", "x" * 64, GIVEN_KEY[:31]])
def test_a_secret_key_that_can_be_guessed_is_refused_and_not_repeated(
    environment: pytest.MonkeyPatch, value: str
) -> None:
    environment.setenv("COSQA_SECRET_KEY", value)
    with pytest.raises(ImproperlyConfigured, match="COSQA_SECRET_KEY: expected at least 32") as refused:
        read()
    assert repr(value) not in str(refused.value)


def test_the_policy_of_the_pages_allows_nothing_inline_and_nothing_from_elsewhere(
    environment: pytest.MonkeyPatch,
) -> None:
    directives = read()["CONTENT_SECURITY_POLICY"]["DIRECTIVES"]
    said = " ".join(str(source) for sources in directives.values() for source in sources)
    assert "unsafe" not in said
    assert "http" not in said
    assert directives["default-src"] == ["'none'"]


def test_every_known_name_is_read(environment: pytest.MonkeyPatch) -> None:
    """A name that nothing reads would promise an effect that it has not."""
    known = [name for name in read()["known_names"]() if not name.startswith("COSQA_TEST_")]
    text = FILE.read_text()
    assert [name for name in known if f'"{name}"' not in text] == []


def test_the_command_line_shows_the_message(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("COSQA_SANDBOX", "podman")
    ended = subprocess.run(
        [sys.executable, "manage.py", "check"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 1
    assert ended.stderr == "cosqa: COSQA_SANDBOX='podman': expected one of auto, bubblewrap, docker, none\n"


SECRETS = [
    ("DATABASE_URL", "postgres://me:hid/den@db:port/name"),
    ("DATABASE_URL", "mysql://me:hid@den@db/name?sslpassword=hidden"),
    ("DATABASE_URL", "postgres://me:hid#den@db/"),
    ("REDIS_URL", "me:hidden@cache:6379"),
    ("CELERY_BROKER_URL", "sqs://key:hidden@"),
    ("EMAIL_URL", "http://me:hidden@mail"),
    ("COSQA_LLM_BASE_URL", "ftp://me:hidden@models"),
    ("COSQA_NOTIFY_COMMAND", "hook --token=hidden 'half a quote"),
    ("COSQA_TRUSTED_ORIGINS", "me:hidden@example.org"),
    ("COSQA_SECRET_KEY", "hidden"),
]


@pytest.mark.parametrize(("name", "value"), SECRETS)
def test_an_error_at_the_start_shows_no_password(
    environment: pytest.MonkeyPatch, name: str, value: str
) -> None:
    environment.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as told:
        read()
    message = str(told.value)
    assert message.startswith(name)
    assert "expected" in message
    assert "hid" not in message
    assert "den" not in message


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_data_folder_and_what_is_written_are_for_their_owner_alone(tmp_path: Path, umask: int) -> None:
    home = tmp_path / "home"
    command = [sys.executable, str(ROOT / "manage.py"), "account", "ada", "--role", "admin", "--new-password"]
    subprocess.run(
        command,
        check=True,
        timeout=120,
        umask=umask,
        capture_output=True,
        env={"PATH": os.environ["PATH"], "COSQA_HOME": str(home)},
    )
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (home, *home.rglob("*"))}
    assert modes.pop("home") == modes.pop("static") == "0o700"
    assert {"workbench.sqlite3", "secret-key"} <= set(modes)
    assert set(modes.values()) == {"0o600"}, modes


def test_what_an_older_release_left_open_is_closed(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "data"
    home.mkdir()
    for name in ("workbench.sqlite3", "workbench.sqlite3-wal", "workbench.sqlite3-shm"):
        (home / name).touch()
        (home / name).chmod(0o644)
    home.chmod(0o755)
    read()
    assert home.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o077 for path in home.iterdir()} == {0}


def test_a_folder_for_everybody_stays_open(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shared = tmp_path / "data"
    shared.mkdir()
    shared.chmod(0o1777)
    read()
    assert shared.stat().st_mode & 0o7777 == 0o1777


@pytest.mark.parametrize(("asked", "told"), [("", False), ("true", True)])
def test_browsers_keep_a_list_of_this_domain_only_when_asked(
    environment: pytest.MonkeyPatch, asked: str, told: bool
) -> None:
    environment.setenv("COSQA_SECURE", "true")
    environment.setenv("COSQA_HSTS_PRELOAD", asked)
    found = read()
    assert found["SECURE_HSTS_SECONDS"] > 0
    assert (found["SECURE_HSTS_PRELOAD"], found["SECURE_HSTS_INCLUDE_SUBDOMAINS"]) == (told, told)


@pytest.mark.parametrize(
    ("given", "prefix"), [("", ""), ("/", ""), ("/wb", "/wb"), ("/tools/wb/", "/tools/wb")]
)
def test_a_prefix_is_before_static_files_cookies_and_health(
    environment: pytest.MonkeyPatch, given: str, prefix: str
) -> None:
    environment.setenv("COSQA_PREFIX", given)
    found = read()
    assert (found["PREFIX"], found["FORCE_SCRIPT_NAME"]) == (prefix, prefix or None)
    assert found["STATIC_URL"] == f"{prefix}/static/"
    assert found["SESSION_COOKIE_PATH"] == found["CSRF_COOKIE_PATH"] == f"{prefix}/"
    (exempt,) = found["SECURE_REDIRECT_EXEMPT"]
    assert re.search(exempt, f"{prefix}/health/".lstrip("/"))
    assert not re.search(exempt, f"{prefix}/login/".lstrip("/"))
