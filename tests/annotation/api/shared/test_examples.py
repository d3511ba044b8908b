"""Every operation with a body shows one, which its schema takes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ninja import Schema
from ninja.operation import Operation

from annotation.api.shared.examples import EXAMPLES
from cosqa_site.api import api


def bodies() -> Iterator[tuple[str, type[Schema]]]:
    """Each operation that takes a body, by its id, with the schema of the body."""
    for router in api._get_bound_routers():
        for view in router.path_operations.values():
            for operation in view.operations:
                yield from schemas_of(operation)


def schemas_of(operation: Operation) -> Iterator[tuple[str, type[Schema]]]:
    for model in operation.models:
        if getattr(model, "__ninja_param_source__", "") in ("body", "form"):
            for field in model.model_fields.values():
                if isinstance(field.annotation, type) and issubclass(field.annotation, Schema):
                    yield operation.view_func.__name__, field.annotation


SCHEMAS = dict(bodies())


def test_each_body_has_an_example_and_no_other_has() -> None:
    assert len(SCHEMAS) > 30
    assert set(EXAMPLES) == set(SCHEMAS)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_is_taken_by_its_schema(name: str) -> None:
    SCHEMAS[name].model_validate(EXAMPLES[name])
