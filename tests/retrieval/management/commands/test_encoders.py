"""`manage.py encoders`: what is known of each, and what this machine lacks."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from retrieval import encoders
from retrieval.encoders.dense import endpoint

pytestmark = pytest.mark.django_db


def told(*names: str) -> str:
    out = StringIO()
    call_command("encoders", *names, stdout=out)
    return out.getvalue()


def test_every_name_is_there_with_what_it_is() -> None:
    found: list[dict[str, Any]] = json.loads(told("--json"))
    assert [one["name"] for one in found] == list(encoders.NAMES)
    kinds = {one["name"]: one["kind"] for one in found}
    assert (kinds["bm25"], kinds["e5"], kinds["endpoint"]) == ("lexical", "dense", "endpoint")
    assert all(one["licence"] for one in found if one["kind"] == "dense")


def test_people_read_prefixes_licences_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(endpoint.BASE_URL, raising=False)
    text = told("bm25", "e5", "endpoint:some-model")
    for words in ("counts words", "'query: '", "MIT", "hf download intfloat/e5-base-v2", endpoint.BASE_URL):
        assert words in text


def test_a_name_that_is_none_is_told() -> None:
    with pytest.raises(CommandError, match="no encoder is called 'word2vec'"):
        told("word2vec")
