"""A column's values in JSON: moments in UTC to the microsecond, decimals as text, bytes as Base64."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.db import models

Convert = Callable[[Any], Any]


def encoder_of(field: models.Field[Any, Any]) -> Convert | None:
    """What makes JSON of a value; None where JSON has such values itself. Null is never handed to it."""
    return next((encode for kind, encode in ENCODERS.items() if isinstance(field, kind)), None)


def encode_moment(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="microseconds")


def encode_bytes(value: bytes | memoryview) -> str:
    return b64encode(value).decode("ascii")


ENCODERS: dict[type[models.Field[Any, Any]], Convert] = {
    models.DateTimeField: encode_moment,
    models.DecimalField: str,
    models.UUIDField: str,
    models.BinaryField: encode_bytes,
}
