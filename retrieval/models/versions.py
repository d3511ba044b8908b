"""Rows with a name and a version, as people name them."""

from __future__ import annotations

from typing import Any, Final

from django.db.models import QuerySet

LARGEST_VERSION: Final = 10**9


def find_version(rows: QuerySet[Any], wanted: int | str) -> Any:
    """The row of this id, of this name and its highest version, or of `name@version`; None for none."""
    if isinstance(wanted, int):
        return rows.filter(pk=wanted).first()
    newest = rows.filter(name=wanted).order_by("-version", "-pk").first()
    name, _, version = wanted.rpartition("@")
    if newest is not None or not name or not is_version(version):
        return newest
    return rows.filter(name=name, version=int(version)).first()


def is_version(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text[:12]) < LARGEST_VERSION
