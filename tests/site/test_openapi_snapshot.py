"""The API's contract: any change of it shows up in the diff of one file."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from ninja import Schema

from cosqa_site.api import api

SNAPSHOT = Path(__file__).with_name("openapi.json")
UPDATE = "UPDATE_OPENAPI=1 .venv/bin/pytest tests/site/test_openapi_snapshot.py"


@pytest.fixture
def schema() -> dict[str, Any]:
    return dict(json.loads(json.dumps(api.get_openapi_schema())))


def test_the_contract_is_the_one_that_was_reviewed(schema: dict[str, Any]) -> None:
    now = json.dumps(schema, indent=1, sort_keys=True) + "\n"
    if os.environ.get("UPDATE_OPENAPI"):
        SNAPSHOT.write_text(now)
    assert now == SNAPSHOT.read_text(), f"The API's contract changed. If that is meant: {UPDATE}"


def operations(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for methods in schema["paths"].values() for operation in methods.values()]


def test_every_operation_has_a_name_of_its_own_and_says_what_it_does(schema: dict[str, Any]) -> None:
    found = operations(schema)
    assert len({operation["operationId"] for operation in found}) == len(found)
    assert all(operation.get("description", "").endswith(".") for operation in found)
    assert all(operation.get("tags") for operation in found)


def schemas_below(kind: type[Schema]) -> set[type[Schema]]:
    return {kind}.union(*(schemas_below(below) for below in kind.__subclasses__()))


def test_no_two_schemas_have_one_name() -> None:
    """The contract names each schema once: of two the second would be published for the first as well."""
    ours = [
        kind for kind in schemas_below(Schema) if kind.__module__.startswith(("annotation.", "retrieval."))
    ]
    assert [name for name, count in Counter(kind.__name__ for kind in ours).items() if count > 1] == []


def test_every_operation_asks_who_calls_and_documents_its_problems(schema: dict[str, Any]) -> None:
    for operation in operations(schema):
        assert operation["security"] == [{"Token": []}, {"Session": []}]
        content = operation["responses"]["default"]["content"]
        assert list(content) == ["application/problem+json"]
    assert schema["components"]["schemas"]["Problem"]["required"] == ["type", "title", "status", "detail"]


def test_every_list_is_a_page(schema: dict[str, Any]) -> None:
    for path, methods in schema["paths"].items():
        if "get" in methods and methods["get"]["operationId"].startswith("list_"):
            names = {parameter["name"]: parameter["schema"] for parameter in methods["get"]["parameters"]}
            assert {"after", "limit"} <= set(names), path
            assert names["limit"]["maximum"] == 200, path


def test_nothing_that_is_read_is_a_bare_list(schema: dict[str, Any]) -> None:
    """A list goes on by a cursor; a rater's last ratings are ten."""
    read = [methods["get"] for methods in schema["paths"].values() if "get" in methods]
    answers = {told["operationId"]: told["responses"]["200"].get("content", {}) for told in read}
    bare = {
        name
        for name, content in answers.items()
        for kind in content.values()
        if kind["schema"].get("type") == "array"
    }
    assert bare == {"get_recent_ratings"}


def test_the_schema_is_served_without_a_login_and_the_documentation_with_one(db: None) -> None:
    assert Client().get("/api/openapi.json").json()["info"]["title"] == "CoSQA Workbench"
    assert Client().get("/api/docs").headers["Location"].startswith("/login/")


def test_the_documentation_has_no_inline_script_and_nothing_from_elsewhere(ray: Client) -> None:
    response = ray.get("/api/docs")
    page = response.content.decode()
    assert "'unsafe-inline'" not in response["Content-Security-Policy"]
    assert "<style" not in page
    assert " style=" not in page
    assert "https://" not in page
    scripts = page.split("<script")[1:]
    data = ' id="swagger-settings" type="application/json">'
    assert all(script.startswith((" src=", data)) for script in scripts)
