"""TREC qrels become labels of members that are there."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from retrieval.importing import Imported, Options, import_items
from retrieval.labelling import import_qrels
from retrieval.models import Collection, Label
from retrieval.sources import Item, Query, Snippet

pytestmark = pytest.mark.django_db


@pytest.fixture
def small() -> tuple[Collection, Collection]:
    items: list[Item] = [Query("ask", "q1"), Snippet("def f(): ...", "d1"), Snippet("def g(): ...", "d2")]
    import_items(items, "here", "small", Options())
    return Collection.objects.get(kind="queries"), Collection.objects.get(kind="snippets")


def labelled(small: tuple[Collection, Collection], path: Path, text: str, dry_run: bool = False) -> Imported:
    path.write_text(text)
    return import_qrels(path, *small, "small", Options(dry_run))


def test_labels_are_stored_once_and_unknown_ids_are_told(
    small: tuple[Collection, Collection], tmp_path: Path
) -> None:
    text = "q1 0 d1 1\nq1 0 d2 0\nq9 0 d1 1\nq1 0 d9 1\nq1 0 d1 -1\n"
    for _ in range(2):
        done = labelled(small, tmp_path / "qrels", text)
        assert [problem.record for problem in done.problems] == [3, 4, 5]
        assert sorted(Label.objects.values_list("value", "scale")) == [(0, "binary"), (1, "binary")]


def test_a_relevance_above_one_makes_all_graded(small: tuple[Collection, Collection], tmp_path: Path) -> None:
    done = labelled(small, tmp_path / "qrels", "q1 0 d1 3\nq1 0 d2 1.5\n")
    assert list(Label.objects.values_list("value", "scale")) == [(3, "graded")]
    assert "relevance 1.5 is none of 0, 1, 2, 3" in str(done.problems[0])


def test_a_broken_line_and_a_dry_run_store_nothing(
    small: tuple[Collection, Collection], tmp_path: Path
) -> None:
    done = labelled(small, tmp_path / "qrels", "q1 0 d1 1\nbroken\n")
    assert "qrels, record 2: expected 4 columns" in str(done.problems[0])
    labelled(small, tmp_path / "qrels", "q1 0 d1 1\n", dry_run=True)
    assert not Label.objects.exists()


def test_the_command_needs_both_collections(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    with pytest.raises(CommandError, match="no collection of queries called 'none'"):
        call_command("import", "qrels", str(tmp_path / "qrels"), "--name", "none")


def test_the_labels_become_a_benchmark_and_the_same_again_no_other(
    small: tuple[Collection, Collection], tmp_path: Path
) -> None:
    first = labelled(small, tmp_path / "qrels", "q1 0 d1 1\nq1 0 d2 0\n").benchmark
    assert first is not None
    assert (str(first), first.size, first.positives) == ("small@1", 2, 1)
    assert labelled(small, tmp_path / "qrels", "q1 0 d1 1\nq1 0 d2 0\n").benchmark == first
    second = labelled(small, tmp_path / "others", "q1 0 d2 1\n").benchmark
    assert second is not None
    assert (str(second), second.positives) == ("small@2", 2)


def test_without_labels_there_is_no_benchmark(small: tuple[Collection, Collection], tmp_path: Path) -> None:
    assert labelled(small, tmp_path / "qrels", "q9 0 d1 1\n").benchmark is None
    assert labelled(small, tmp_path / "qrels", "q1 0 d1 1\n", dry_run=True).benchmark is None
