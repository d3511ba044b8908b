"""Further ids of texts are kept as members' ids are: once, in their order, and told of."""

from __future__ import annotations

import json
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from retrieval.collections.derivation import derive_collection
from retrieval.collections.import_report import Options
from retrieval.collections.importer import import_items
from retrieval.collections.label_import import Target, import_qrels
from retrieval.models import Alias, Collection, LabelIds
from retrieval.sources import GivenLabel, Item, Query, Snippet

pytestmark = pytest.mark.django_db

CODE = "def last(xs):\n    return xs[-1]"
LABELLED: tuple[Item, ...] = (
    Query("last element", "q1"),
    Snippet(CODE, "b1"),
    GivenLabel("last element", CODE, 1, "binary", "q1", "b1"),
)
AGAIN: tuple[Item, ...] = (
    Snippet(CODE + "\n", "b2"),
    GivenLabel("last element", CODE, 0, "binary", "q1", "b2"),
)


def imported(items: Iterable[Item], name: str = "made") -> list[tuple[str, int]]:
    """The further ids of the snippets, with their numbers, after an import."""
    import_items(items, "made", name, Options())
    rows = Alias.objects.filter(collection__name=name, collection__kind="snippets")
    return list(rows.values_list("source_id", "number"))


def labels_by_ids() -> set[tuple[str, str, int]]:
    return set(LabelIds.objects.values_list("query_source_id", "snippet_source_id", "value"))


def test_an_id_of_a_text_that_is_there_is_kept_once() -> None:
    assert imported([*LABELLED, *AGAIN]) == [("b2", 1)]
    assert imported([*LABELLED, *AGAIN, Snippet(CODE, "b3")]) == [("b2", 1), ("b3", 2)]


def test_members_own_ids_have_no_row() -> None:
    assert imported([*LABELLED, *LABELLED]) == []
    assert labels_by_ids() == set()


def test_a_number_that_a_reader_made_up_is_no_id() -> None:
    assert imported([Snippet(CODE, "0", has_id=False), Snippet(CODE, "1", has_id=False)]) == []


def test_labels_of_one_pair_of_texts_stay_apart_by_ids() -> None:
    imported([*LABELLED, *AGAIN])
    assert labels_by_ids() == {("q1", "b1", 1), ("q1", "b2", 0)}


def test_a_label_that_came_before_the_copy_stays_with_its_own_id() -> None:
    imported(LABELLED)
    imported(AGAIN)
    assert labels_by_ids() == {("q1", "b1", 1), ("q1", "b2", 0)}


def test_labels_by_one_pair_of_ids_that_contradict_are_told_and_the_first_counts() -> None:
    imported([*LABELLED, *AGAIN])
    done = import_items(
        [GivenLabel("last element", CODE, 1, "binary", "q1", "b2")], "made", "made", Options()
    )
    assert [counts.contradicted for counts in done.parts] == [1]
    assert ("q1", "b2", 0) in labels_by_ids()


def test_the_command_says_how_many_ids_share_a_text(tmp_path: Path) -> None:
    rows = [{"cid": name, "code": CODE} for name in ("b1", "b2", "b3", "b2")]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = StringIO()
    told = ["--snippet", "code", "--snippet-id", "cid", "--name", "made"]
    call_command("import", "table", str(tmp_path / "rows.jsonl"), *told, stdout=said)
    assert "2 ids share a text with an earlier id; all ids are kept" in said.getvalue()


def test_qrels_may_name_a_text_by_each_of_its_ids(tmp_path: Path) -> None:
    imported([*LABELLED, AGAIN[0]])
    queries, snippets = (Collection.objects.get(name="made", kind=kind) for kind in ("queries", "snippets"))
    (tmp_path / "qrels").write_text("q1 0 b2 1\nq1 0 b1 0\n")
    done = import_qrels(tmp_path / "qrels", Target(queries, snippets, "judged"), Options())
    assert done.others is not None
    assert (done.others.labels, done.others.unreadable) == (2, 0)


def test_an_id_that_leads_to_two_texts_is_refused_in_qrels(tmp_path: Path) -> None:
    imported([*LABELLED, AGAIN[0], Snippet("def first(xs):\n    return xs[0]", "b2")])
    queries, snippets = (Collection.objects.get(name="made", kind=kind) for kind in ("queries", "snippets"))
    (tmp_path / "qrels").write_text("q1 0 b2 1\n")
    done = import_qrels(tmp_path / "qrels", Target(queries, snippets, "judged"), Options())
    (problem,) = done.problems
    assert "which one is meant is not known" in problem.message


def test_what_passes_a_filter_keeps_its_ids() -> None:
    imported([*LABELLED, AGAIN[0]])
    made = derive_collection("kept", Collection.objects.get(name="made", kind="snippets"), ["distinct"])
    assert list(made.aliases.values_list("source_id", "number")) == [("b2", 1)]
