"""A column's values in JSON: moments in UTC to the microsecond, decimals as text, bytes as Base64."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import models

Convert = Callable[[Any], Any]


def encoder_of(field: models.Field[Any, Any]) -> Convert | None:
    """What makes JSON of a value; None where JSON has such values itself. Null is never handed to it."""
    return _converters_of(field)[0]


def decoder_of(field: models.Field[Any, Any]) -> Convert | None:
    """The way back."""
    return _converters_of(field)[1]


def _converters_of(field: models.Field[Any, Any]) -> tuple[Convert | None, Convert | None]:
    for kind, converters in CONVERTERS.items():
        if isinstance(field, kind):
            return converters
    return None, None


def encode_moment(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="microseconds")


def encode_bytes(value: bytes | memoryview) -> str:
    return b64encode(value).decode("ascii")


def decode_bytes(value: str) -> bytes:
    return b64decode(value, validate=True)


CONVERTERS: dict[type[models.Field[Any, Any]], tuple[Convert, Convert]] = {
    models.DateTimeField: (encode_moment, datetime.fromisoformat),
    models.DecimalField: (str, Decimal),
    models.UUIDField: (str, UUID),
    models.BinaryField: (encode_bytes, decode_bytes),
}
