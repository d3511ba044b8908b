"""Secrets and signatures as Standard Webhooks 1.0.0 has them (standardwebhooks.com).

A secret is derived from the server's key and a random salt, so that no table, dump or backup of the
database holds it. Another key gives another secret; a stored hash tells that.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Final

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

PREFIX: Final = "whsec_"
PURPOSE: Final = "annotation.webhooks"


def draw_salt() -> str:
    """32 random hexadecimal digits."""
    return secrets.token_hex(16)


def derive_secret(salt: str, key: str | bytes | None = None) -> str:
    """`whsec_…`: 32 bytes in base64, of the salt and the server's present key, or of `key`."""
    made = salted_hmac(PURPOSE, salt, secret=key, algorithm="sha256").digest()
    return PREFIX + base64.b64encode(made).decode()


def hash_secret(secret: str) -> str:
    """What is stored of a secret: its sha256."""
    return hashlib.sha256(secret.encode()).hexdigest()


def find_secret(salt: str, digest: str) -> str | None:
    """The secret with this hash, by the server's key or one that it had; None where neither gives it."""
    keys: Iterable[str | bytes] = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    found = (derive_secret(salt, key) for key in keys)
    return next((secret for secret in found if constant_time_compare(hash_secret(secret), digest)), None)


def sign_message(secret: str, message: str, timestamp: int, body: bytes) -> str:
    """The header `webhook-signature`: `v1,` and HMAC-SHA256 of `id.timestamp.body` in base64.

    `timestamp` is in whole seconds since 1970.
    """
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = hmac.digest(key, f"{message}.{timestamp}.".encode() + body, "sha256")
    return f"v1,{base64.b64encode(signed).decode()}"
