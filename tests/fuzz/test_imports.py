"""A few damaged files for each import; `make fuzz` imports them for an hour."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.files import Damage, encode_records
from tests.fuzz.imports import SOURCES, Source, check_source, checks_of


@pytest.mark.django_db
@pytest.mark.parametrize("kind", SOURCES)
def test_each_record_is_stored_or_told(kind: str) -> None:
    ends = Counter[str]()
    checks_of(kind, 25, ends)()
    assert ends.total() >= 25


@pytest.mark.django_db
def test_a_record_that_nobody_tells_of_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.collections.importer.keep_readable_records", lambda *given: iter(()))
    lost = Source(
        {"t.jsonl": [{"query": "a"}]}, ("table", "{}/t.jsonl", "--query", "query"), (("t.jsonl", "query"),)
    )
    monkeypatch.setattr("retrieval.management.commands.import.refuse_nothing", lambda *given: None)
    with pytest.raises(AssertionError, match="neither stored nor told"):
        check_source(lost, {})


@pytest.mark.parametrize(
    ("how", "changed"),
    [("cut", b"[]"[:1]), ("drop", b"["), ("add", b"[x]"), ("set", b"[x"), ("twice", b"[]]")],
)
def test_damage_changes_a_byte_or_two(how: str, changed: bytes) -> None:
    assert Damage(how, 0.5, ord("x")).apply(encode_records("t.json", [])) == changed
