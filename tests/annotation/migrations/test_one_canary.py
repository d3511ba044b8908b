"""Canaries of builds and of extensions are carried into one table, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from annotation.models import Build, Canary, Extension
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

TWO = "0002_unproven_outcome"
ONE = "0003_one_canary"


def migrate(name: str) -> Any:
    """Bring the tables to a migration; returns the models of that time."""
    place = [("annotation", name)]
    MigrationExecutor(connection).migrate(place)
    return MigrationExecutor(connection).loader.project_state(place).apps


def migrate_to_now() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


@pytest.fixture
def extension() -> Iterator[Extension]:
    """An extension of a build; the tables are as they are now again afterwards."""
    build, _ = factories.opened("large"), factories.opened("other")
    yield Extension.objects.create(build=build, number=1, mining=build.own_mining, state="canary")
    migrate_to_now()


def rows_before(apps: Any, extension: Extension) -> None:
    build, ada = extension.build, factories.ada()
    common = {"drawn": [3, 1, 2], "pairs": 900, "decided_at": timezone.now(), "decided_by_id": ada.pk}
    old = apps.get_model("annotation", "Canary").objects
    old.create(build_id=build.pk, seed=7, spent=12, rest_opened=True, **common)
    old.create(build_id=Build.objects.values_list("pk").get(name="other")[0], seed=8)
    apps.get_model("annotation", "ExtensionCanary").objects.create(
        extension_id=extension.pk, seed=9, spent=4, began=12, last_call=5, before={"finished": 9}, **common
    )


def test_rows_of_both_tables_are_in_the_one(extension: Extension) -> None:
    rows_before(migrate(TWO), extension)
    migrate_to_now()
    assert list(Canary.objects.order_by("pk").values_list("seed", flat=True)) == [7, 8, 9]
    own = Canary.objects.of_whole_build(extension.build).get()
    assert (own.drawn, own.pairs, own.spent, own.rest_opened) == ([3, 1, 2], 900, 12, True)
    assert (own.decided_by, own.began, own.before) == (factories.ada(), 0, None)
    other = Canary.objects.get(build__name="other")
    assert (other.decided_at, other.decided_by, other.rest_opened) == (None, None, False)
    further = Canary.objects.of_extension(extension.build, 1).get()
    assert (further.build, further.drawn, further.spent) == (extension.build, [3, 1, 2], 4)
    assert (further.began, further.last_call, further.before) == (12, 5, {"finished": 9})


def test_the_way_back_keeps_every_row(extension: Extension) -> None:
    apps = migrate(TWO)
    rows_before(apps, extension)
    tables = [apps.get_model("annotation", name).objects for name in ("Canary", "ExtensionCanary")]
    before = [list(table.order_by("pk").values()) for table in tables]
    migrate(ONE)
    migrate(TWO)
    assert [list(table.order_by("pk").values()) for table in tables] == before


def test_a_new_row_gets_a_key_after_those_that_were_carried(extension: Extension) -> None:
    rows_before(migrate(TWO), extension)
    migrate_to_now()
    last = Canary.objects.latest("pk").pk
    assert Canary.objects.create(build=factories.opened("new"), seed=1).pk > last


def test_a_build_has_one_canary_of_its_own(extension: Extension) -> None:
    Canary.objects.create(build=extension.build, extension=extension, seed=1)
    Canary.objects.create(build=extension.build, seed=2)
    with pytest.raises(IntegrityError):
        Canary.objects.create(build=Build.objects.get(pk=extension.build_id), seed=3)
