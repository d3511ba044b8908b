"""Wide texts: what is stored of them, and that what was stored before can still be read."""

from __future__ import annotations

import hashlib
import zlib

import pytest
from django.db import connection

from annotation.models import ReplyText, ReportText, RequestText, SystemText
from annotation.models.common import load_common_text

pytestmark = pytest.mark.django_db
TEXT = '{"explanation": "The code sorts the list. Ünïcode, too.", "verdict": 1}'


@pytest.mark.parametrize("kind", [SystemText, RequestText, ReplyText, ReportText])
def test_a_text_comes_back_as_it_was(kind: type[SystemText]) -> None:
    kept = kind.keep(TEXT)
    assert kind.objects.get(pk=kept.digest).text == TEXT


def test_what_a_kind_has_in_common_is_not_stored_again() -> None:
    assert len(ReplyText.compressed(TEXT)) < 0.8 * len(SystemText.compressed(TEXT))


def test_what_was_stored_without_that_can_still_be_read() -> None:
    old = ReplyText.packed(TEXT)
    old.data = zlib.compress(TEXT.encode(), 6)
    old.save(force_insert=True)
    assert ReplyText.objects.get(pk=old.digest).text == TEXT


def test_hashes_have_no_index_for_parts_of_them() -> None:
    with connection.cursor() as cursor:
        for table in ("annotation_replytext", "annotation_llmcall", "retrieval_text"):
            found = connection.introspection.get_constraints(cursor, table)
            assert not [name for name in found if name.endswith("_like")], table


@pytest.mark.parametrize(
    ("kind", "digest"),
    [
        ("replies", "cbd8fa6e613b463191cb8e1fed4ed17fc7c7dcf9a4adb520222fa55c1dbede4f"),
        ("reports", "c4508253cb38e603a19569b9c9b6ef1c6a9186f17e39cba370de6fbdd1fcb997"),
        ("requests", "5e9ed5bb0223245f0c03e7cbe87571006483691e42a84b814b6c7906726f5c8d"),
    ],
)
def test_what_a_kind_has_in_common_never_changes(kind: str, digest: str) -> None:
    assert hashlib.sha256(load_common_text(kind)).hexdigest() == digest, (
        "what was stored can't be read any more"
    )
