"""docs/reference says what the code says; `UPDATE_REFERENCES=1`, or `make references`, writes it again."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import pytest

from cosqa_site import settings as site_settings
from cosqa_site.api import api
from retrieval.metrics import binary, codesearchnet, distractors, graded_relevance
from retrieval.metrics.names import FAMILIES
from scripts import references

FOLDER: Final = references.ROOT / "docs" / "reference"
AGAIN: Final = "make references"
COMPUTED_BY: Final[dict[str, Callable[..., Any]]] = {
    "distinct_matches": binary.distinct_matches,
    "map": binary.average_precision,
    "map_reachable": binary.average_precision_of_reachable,
    "mmrr": binary.multi_choice_reciprocal_rank,
    "mrr": binary.reciprocal_rank,
    "mrr_distractors": distractors.reciprocal_rank_in_list,
    "ndcg": graded_relevance.ndcg_graded,
    "ndcg_all": codesearchnet.ndcg_all,
    "ndcg_linear": graded_relevance.ndcg_graded,
    "ndcg_within": codesearchnet.ndcg_within,
    "precision": binary.precision,
    "recall": binary.recall,
    "success": binary.success,
}


def metrics() -> str:
    return references.write_metrics(
        {name: family.cut.value for name, family in FAMILIES.items()}, COMPUTED_BY
    )


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("settings.md", references.write_settings),
        ("api.md", lambda: references.write_api(api.get_openapi_schema())),
        ("metrics.md", metrics),
    ],
)
def test_the_page_is_what_the_code_says(name: str, write: Callable[[], str]) -> None:
    page, text = FOLDER / name, write().rstrip() + "\n"
    if os.environ.get("UPDATE_REFERENCES"):
        page.write_text(text, "utf-8")
    assert page.read_text("utf-8") == text, AGAIN


def test_every_setting_that_starts_the_server_is_on_the_page() -> None:
    tests_only = {name for name in site_settings.known_names() if name.startswith("COSQA_TEST_")}
    assert set(site_settings.known_names()) - tests_only <= set(references.read_settings())


def test_every_setting_says_what_it_does() -> None:
    assert set(references.read_settings()) - set(references.setting_meanings()) == set()


def test_every_operation_is_on_the_page() -> None:
    text = (FOLDER / "api.md").read_text("utf-8")
    paths = api.get_openapi_schema()["paths"]
    assert text.count("\n### ") == sum(
        len(set(operations) & set(references.METHODS)) for operations in paths.values()
    )


def test_an_example_of_the_schema_is_shown() -> None:
    schema = {
        "paths": {
            "/api/things": {
                "post": {
                    "summary": "Make",
                    "description": "Make a thing.",
                    "requestBody": {
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}
                    },
                }
            }
        },
        "components": {
            "schemas": {
                "Thing": {
                    "properties": {"name": {"description": "Its name."}},
                    "required": ["name"],
                    "examples": [{"name": "first"}],
                }
            }
        },
    }
    text = references.write_api(schema)
    assert "### POST /api/things\n\nMake a thing.\n\n- `name` (body): Its name.\n" in text
    assert '```json\n{\n  "name": "first"\n}\n```' in text


def test_every_measure_has_the_function_that_computes_it() -> None:
    assert set(COMPUTED_BY) == set(FAMILIES)
