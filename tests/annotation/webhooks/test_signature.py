"""Secrets and signatures as Standard Webhooks has them."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from annotation.webhooks import signature

SALT = "0123456789abcdef0123456789abcdef"


def test_the_published_example_has_its_signature() -> None:
    """Of the libraries of github.com/standard-webhooks/standard-webhooks."""
    found = signature.sign_message(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@given(st.binary(max_size=200), st.integers(0, 2**33), st.integers(0, 199))
def test_another_byte_time_or_id_has_another_signature(body: bytes, timestamp: int, place: int) -> None:
    secret = signature.derive_secret(SALT)
    found = signature.sign_message(secret, "msg_1", timestamp, body)
    changed = body[:place] + b"?" + body[place:]
    assert found != signature.sign_message(secret, "msg_1", timestamp, changed)
    assert found != signature.sign_message(secret, "msg_1", timestamp + 1, body)
    assert found != signature.sign_message(secret, "msg_2", timestamp, body)
    assert found == signature.sign_message(secret, "msg_1", timestamp, body)


def test_a_secret_has_32_bytes_and_each_salt_its_own() -> None:
    first, second = (signature.derive_secret(signature.draw_salt()) for _ in range(2))
    assert first != second
    assert len(base64.b64decode(first.removeprefix("whsec_"), validate=True)) == 32
    assert SALT not in signature.derive_secret(SALT)


def test_another_key_of_the_server_gives_no_secret_unless_it_is_an_old_one(settings: Settings) -> None:
    secret, old = signature.derive_secret(SALT), settings.SECRET_KEY
    digest = signature.hash_secret(secret)
    assert signature.find_secret(SALT, digest) == secret
    settings.SECRET_KEY = "another key " * 5
    assert signature.find_secret(SALT, digest) is None
    settings.SECRET_KEY_FALLBACKS = [old]
    assert signature.find_secret(SALT, digest) == secret


@pytest.mark.parametrize("salt", ["", "x" * 32])
def test_a_hash_of_another_secret_is_not_taken(salt: str) -> None:
    assert signature.find_secret(salt, signature.hash_secret("whsec_other")) is None
