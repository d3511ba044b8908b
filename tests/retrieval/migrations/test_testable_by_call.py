"""Members that were stored by an earlier release get the flag that an import would give them now."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from retrieval.filters import Rule
from retrieval.models import Collection, Member
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

CODES = [
    "def f(a):\n    return a\n",
    "def f(a):\n    yield a\n",
    "def f(self):\n    yield self.a\n",
    "def f(self):\n    return self.a\n",
    "def f(self):\n    return super().f()\n",
    "def f(self):\n    return\n",
    "def f(a):\n    return\n",
    "def f(a):\n    print(a)\n",
    "def f(a): print a\n",
]
CALLED = [True, True, True, True, False, False, False, False, False]


def migrate(name: str | None) -> None:
    """Bring the tables to a migration of this app, or of all apps to now."""
    executor = MigrationExecutor(connection)
    executor.migrate([("retrieval", name)] if name else executor.loader.graph.leaf_nodes())


@pytest.fixture
def snippets() -> Iterator[Collection]:
    yield factories.snippets(CODES, "stored")
    migrate(None)


def flags() -> list[int]:
    return list(Member.objects.order_by("position").values_list("rules", flat=True))


def test_members_of_an_earlier_release_get_the_flag(snippets: Collection) -> None:
    now = flags()
    assert [Rule.TESTABLE_BY_CALL in Rule(rules) for rules in now] == CALLED
    migrate("0004_aliases")
    assert flags() == [rules & ~Rule.TESTABLE_BY_CALL for rules in now]
    migrate(None)
    assert flags() == now
