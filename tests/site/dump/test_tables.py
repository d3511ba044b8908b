"""Each table is exported, or is left out for a reason: a new one has to be put in one of the two."""

from __future__ import annotations

from django.apps import apps

from cosqa_site.dump.tables import EXPORTED, LEFT_OUT, WITHHELD, columns_of, tables_of_dump

ALL = {model._meta.label_lower: model for model in apps.get_models(include_auto_created=True)}


def test_every_table_of_every_app_is_exported_or_left_out() -> None:
    assert EXPORTED | LEFT_OUT.keys() == ALL.keys()


def test_no_table_is_both_exported_and_left_out() -> None:
    assert not EXPORTED & LEFT_OUT.keys()


def test_no_exported_row_points_to_one_that_is_left_out() -> None:
    pointed = {
        (name, field.name): field.related_model._meta.label_lower
        for name, table in tables_of_dump().items()
        for field in columns_of(table)
        if field.related_model is not None
    }
    assert {place: to for place, to in pointed.items() if to in LEFT_OUT} == {}


def test_secrets_are_among_the_columns_of_no_table() -> None:
    secret = {
        f"{name}.{field.name}"
        for name, table in tables_of_dump().items()
        for field in columns_of(table)
        if "password" in field.name or "secret" in field.name
    }
    assert secret == set()
    assert WITHHELD.keys() <= EXPORTED
