"""Rows with versions as people name them."""

from __future__ import annotations

import pytest

from retrieval.models import Collection
from retrieval.models.versions import find_version

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows() -> dict[str, int]:
    """By name and version the id; one name ends like a version."""
    named = [("mine", 1), ("mine", 2), ("mine@1", 1)]
    made = [Collection.objects.create(name=name, kind="queries", version=version) for name, version in named]
    return {f"{row.name} {row.version}": row.pk for row in made}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("mine", "mine 2"),
        ("mine@2", "mine 2"),
        ("mine@1", "mine@1 1"),  # a whole name goes before a version
        ("mine@1@1", "mine@1 1"),
        ("mine@3", None),
        ("mine@", None),
        ("@1", None),
        ("mine@\u0661", None),
        (f"mine@{'9' * 40}", None),
        ("other", None),
        (0, None),
    ],
)
def test_a_name_finds_its_newest_version_or_the_one_it_says(
    rows: dict[str, int], wanted: int | str, found: str | None
) -> None:
    row = find_version(Collection.objects.all(), wanted)
    assert (row and row.pk) == (rows[found] if found else None)


def test_an_id_finds_its_row(rows: dict[str, int]) -> None:
    assert find_version(Collection.objects.all(), rows["mine 1"]).version == 1
