"""What is read in a snapshot is one state; others write meanwhile and wait for nobody."""

from __future__ import annotations

from threading import Thread

import pytest
from django.db import connection

from cosqa_site.dump.snapshot import hold_snapshot
from retrieval.models import Annotator

pytestmark = pytest.mark.django_db(transaction=True)


def add_annotator() -> None:
    """In a connection of its own, as another process would."""

    def add() -> None:
        Annotator.objects.create(kind=Annotator.Kind.ORIGINAL, name="late", version="1")
        connection.close()

    thread = Thread(target=add)
    thread.start()
    thread.join(timeout=20)
    assert not thread.is_alive(), "the writer waits for the reader"


def test_rows_that_others_store_meanwhile_are_not_seen() -> None:
    with hold_snapshot():
        assert Annotator.objects.count() == 0
        add_annotator()
        assert Annotator.objects.count() == 0
    assert Annotator.objects.count() == 1


def test_transactions_after_a_snapshot_begin_as_before() -> None:
    mode = getattr(connection, "transaction_mode", None)
    with hold_snapshot():
        pass
    assert getattr(connection, "transaction_mode", None) == mode
    add_annotator()
