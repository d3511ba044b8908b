"""docs/api.md says what the API does, and all of it."""

from __future__ import annotations

import re
from http import HTTPStatus
from pathlib import Path

from django.core.management import get_commands
from ninja.errors import AuthenticationError

from cosqa_site import errors
from cosqa_site.api import api

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text()


def test_every_path_is_documented_and_every_documented_path_is_there() -> None:
    written = set(re.findall(r"`(?:POST )?(/api/[^`?]*)`", TEXT)) - {"/api/docs", "/api/openapi.json"}
    assert written == set(api.get_openapi_schema()["paths"])


def test_what_is_posted_is_told_apart() -> None:
    written = set(re.findall(r"`POST (/api/[^`]*)`", TEXT))
    paths = api.get_openapi_schema()["paths"]
    assert written == {path for path, methods in paths.items() if "post" in methods}


def test_every_documented_error_has_its_status() -> None:
    written = dict(re.findall(r"`urn:cosqa:([a-z-]+)` \| (\d+)", TEXT))
    told = {errors.error_slug(error): str(status.value) for error, status in errors.STATUSES.items()}
    framework = {
        errors.error_slug(HTTPStatus(AuthenticationError().status_code)): "401",
        "bad-request": "400",
        "invalid-request": "422",
        "too-large": "413",
    }
    assert written.items() <= (told | framework).items()
    assert {"launch-refused", "conflict", "override-needs-reason"} <= written.keys()


def test_every_documented_command_is_there() -> None:
    named = set(re.findall(r"cosqa admin (\w+)", TEXT))
    assert named
    assert named <= set(get_commands())
