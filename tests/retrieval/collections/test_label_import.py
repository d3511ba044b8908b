"""TREC qrels become labels of members that are there."""

import csv
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from retrieval.collections import label_import
from retrieval.collections.import_report import Imported, Options
from retrieval.collections.importer import import_items
from retrieval.collections.label_import import Target, import_qrels
from retrieval.evaluation.content import content_of
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.metrics.codesearchnet import mean_relevances
from retrieval.metrics.names import parse_measures
from retrieval.models import Annotator, Benchmark, Collection, Label, Pool
from retrieval.sources import Item, Query, Snippet
from retrieval.sources.formats.trec import read_qrels

pytestmark = pytest.mark.django_db


@pytest.fixture
def small() -> tuple[Collection, Collection]:
    items: list[Item] = [Query("ask", "q1"), Snippet("def f(): ...", "d1"), Snippet("def g(): ...", "d2")]
    import_items(items, "here", "small", Options())
    return Collection.objects.get(kind="queries"), Collection.objects.get(kind="snippets")


def labelled(small: tuple[Collection, Collection], path: Path, text: str, dry_run: bool = False) -> Imported:
    path.write_text(text)
    return import_qrels(path, Target(*small, "small"), Options(dry_run, allow_partial=True))


def test_labels_are_stored_once_and_unknown_ids_are_told(
    small: tuple[Collection, Collection], tmp_path: Path
) -> None:
    text = "q1 0 d1 1\nq1 0 d2 0\nq9 0 d1 1\nq1 0 d9 1\nq1 0 d1 -1\n"
    for _ in range(2):
        done = labelled(small, tmp_path / "qrels", text)
        assert [problem.record for problem in done.problems] == [3, 4]
        assert sorted(Label.objects.values_list("value", "scale")) == [(0, "whole"), (1, "whole")]
        assert done.total().labels == 3 and done.others is not None and done.others.contradicted == 1


def test_a_relevance_above_one_makes_all_graded(small: tuple[Collection, Collection], tmp_path: Path) -> None:
    done = labelled(small, tmp_path / "qrels", "q1 0 d1 3\nq1 0 d2 1.5\n")
    assert list(Label.objects.values_list("value", "scale")) == [(3, "graded")]
    assert "relevance 1.5 is a fraction; expected a whole number" in str(done.problems[0])


def test_a_broken_line_and_a_dry_run_store_nothing(
    small: tuple[Collection, Collection], tmp_path: Path
) -> None:
    done = labelled(small, tmp_path / "qrels", "q1 0 d1 1\nbroken\n")
    assert "qrels, record 2: expected 4 columns" in str(done.problems[0])
    dry = labelled(small, tmp_path / "qrels", "q1 0 d1 1\n", dry_run=True)
    assert dry.total().labels == 1
    assert not Label.objects.exists()


def test_a_broken_line_behind_grades_stores_nothing(
    small: tuple[Collection, Collection], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_import, "BATCH", 1)
    done = labelled(small, tmp_path / "qrels", "q1 0 d1 3\nq1 0 d2 1\nbroken\n")
    assert "qrels, record 3: expected 4 columns" in str(done.problems[0])
    assert not Label.objects.exists()


def test_an_id_of_several_members_is_told_and_none_of_them_is_labelled(
    small: tuple[Collection, Collection], tmp_path: Path
) -> None:
    more: list[Item] = [Query("other", "q2"), Query("third", "q2"), Snippet("def h(): ...", "d1")]
    import_items(more, "here", "small", Options())
    done = labelled(small, tmp_path / "qrels", "q1 0 d1 1\nq2 0 d2 1\nq1 0 d2 1\nq\x00 0 d2 1\n")
    assert [problem.record for problem in done.problems] == [1, 2, 4]
    assert "several members of small (functions, version 1) are called 'd1'" in str(done.problems[0])
    assert "several members of small (queries, version 1) are called 'q2'" in str(done.problems[1])
    assert Label.objects.get().pair.snippet.text == "def g(): ..."


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


LINK = "https://github.com/a/b/blob/1/m.py#L{}"
ANNOTATIONS = f"""Language,Query,GitHubUrl,Relevance,Notes
Python,Sort a list,{LINK.format(1)},3,
Java,sort a list,{LINK.format(3)},2,
Python,sort a list,{LINK.format(1)},2,"a note
of two lines, with a comma"
Python,sort a list,{LINK.format(2)},0,
Python,sort a list,{LINK.format(9)},1,
Python,read a file,{LINK.format(2)},1,
"""


@pytest.fixture
def linked() -> tuple[Collection, Collection]:
    code = [Snippet(f"def f{line}(): ...", f"a/b/m.py::f{line}", LINK.format(line)) for line in (1, 2, 3)]
    import_items([Query("sort a list", "0"), *code], "here", "small", Options())
    return Collection.objects.get(kind="queries"), Collection.objects.get(kind="snippets")


def test_annotations_go_by_texts_and_links_and_have_the_mean_of_all_ratings(
    linked: tuple[Collection, Collection], tmp_path: Path
) -> None:
    for _ in range(2):
        done = labelled(linked, tmp_path / "annotationStore.csv", ANNOTATIONS)
        assert done.benchmark is not None and str(done.benchmark) == "small@1"
        labels = done.benchmark.labels.order_by("pair__snippet_id")
        assert list(labels.values_list("relevance", flat=True)) == [2.5, 0, 2]
        assert Label.objects.filter(scale="graded").count() == Label.objects.count() == 4
    assert [problem.record for problem in done.problems] == [7, 8]
    assert f"has no function '{LINK.format(9)}'" in done.problems[0].message
    assert "has no query 'read a file'" in done.problems[1].message
    assert Annotator.objects.filter(kind="original").count() == 2


def test_a_link_of_several_functions_is_told(linked: tuple[Collection, Collection], tmp_path: Path) -> None:
    import_items([Snippet("def g(): ...", "g", LINK.format(3))], "here", "small", Options())
    done = labelled(linked, tmp_path / "annotationStore.csv", ANNOTATIONS)
    assert [problem.record for problem in done.problems] == [3, 7, 8]
    assert "several members of small (functions, version 1) are called" in done.problems[0].message


def test_predictions_are_scored_by_mean_relevance(
    linked: tuple[Collection, Collection], tmp_path: Path
) -> None:
    benchmark = labelled(linked, tmp_path / "annotationStore.csv", ANNOTATIONS).benchmark
    assert benchmark is not None
    run = tmp_path / "predictions.csv"
    rows = [f"Python,sort a list,{LINK.format(line)}\n" for line in (9, 2, 3, 1)]
    run.write_text("language,query,url\n" + "".join(rows))
    wanted = parse_measures(["ndcg_within", "ndcg_all"])
    figures = evaluate_file(run, "mine", content_of(benchmark), Pool.COLLECTION, wanted).figures
    # Gains 2^2.5-1 = 4.657 and 2^2-1 = 3: the ideal is 4.657 + 3/log2(3) = 6.550; within, ranks 1 to 3
    # hold 0, 2, 2.5; in all, what nobody rated keeps rank 1.
    assert figures["ndcg_within"].value == pytest.approx((3 / 1.58496 + 4.65685 / 2) / 6.54963, abs=1e-4)
    assert figures["ndcg_all"].value == pytest.approx((3 / 2 + 4.65685 / 2.32193) / 6.54963, abs=1e-4)


def test_annotations_of_one_language(linked: tuple[Collection, Collection], tmp_path: Path) -> None:
    path = tmp_path / "annotationStore.csv"
    path.write_text(ANNOTATIONS)
    call_command("import", "qrels", str(path), "--name", "small", "--language", "java")
    assert list(Label.objects.values_list("value", flat=True)) == [2]
    with pytest.raises(CommandError, match="no row in cobol"):
        call_command("import", "qrels", str(path), "--name", "small", "--language", "cobol")
    path.write_text("0 0 a/b/m.py::f1 1\n")
    with pytest.raises(CommandError, match="leave --language out"):
        call_command("import", "qrels", str(path), "--name", "small", "--language", "java")


def test_any_rating_of_three_makes_a_match(linked: tuple[Collection, Collection], tmp_path: Path) -> None:
    path = tmp_path / "annotationStore.csv"
    path.write_text(ANNOTATIONS.split(f"Python,sort a list,{LINK.format(9)}")[0])
    call_command("import", "qrels", str(path), "--name", "small", "--match-from", "3")
    made = Benchmark.objects.get()
    # Function 1 was given 3 and 2, function 2 a 0, function 3 a 2.
    relevances = made.labels.order_by("pair__snippet_id").values_list("relevance", flat=True)
    assert list(relevances) == [1, 0, 0] and made.positives == 1
    assert "any rating of at least 3" in made.merge_rule
    call_command("import", "qrels", str(path), "--name", "small")
    assert Benchmark.objects.get(version=2).positives == 2, "means again, as the next version"
    path.write_text("0 0 a/b/m.py::f1 1\n")
    with pytest.raises(CommandError, match="leave --match-from out"):
        call_command("import", "qrels", str(path), "--name", "small", "--match-from", "3")


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=12))
def test_matches_are_counted_as_the_rule_says(ratings: list[list[int]]) -> None:
    rows = [
        [(1, pair, pair, value, number) for number, value in enumerate(of_pair)]
        for pair, of_pair in enumerate(ratings)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_import, "ratings_by_pair", lambda labels: iter(rows))
        found = [chosen.relevance for chosen in label_import.matches_of(Label.objects.none(), 3)]
    assert found == [float(3 in of_pair) for of_pair in ratings]


def test_annotations_dry(linked: tuple[Collection, Collection], tmp_path: Path) -> None:
    done = labelled(linked, tmp_path / "annotationStore.csv", ANNOTATIONS, dry_run=True)
    assert done.benchmark is None and not Label.objects.exists()
    assert done.total().labels == 4


@pytest.mark.real_data
def test_the_real_annotations_make_a_benchmark(real_data: Path, tmp_path: Path) -> None:
    """A search that has every annotated function in the order of their mean relevance is perfect."""
    folder = real_data / "codesearchnet"
    judged = list(read_qrels(folder / "annotationStore-part.csv").rows)
    links = sorted({row.document for row in judged if row.language == "Python"})
    code: list[Item] = [Snippet(f"def f{number}(): ...", link, link) for number, link in enumerate(links)]
    import_items(code, "corpus", "csn", Options())
    call_command("import", "table", str(folder / "queries.csv"), "--query", "query", "--name", "csn")
    annotations = str(folder / "annotationStore-part.csv")
    call_command("import", "qrels", annotations, "--name", "csn", "--language", "Python")
    made = Benchmark.objects.get()
    means = mean_relevances(
        (row.query.lower(), row.document, row.relevance) for row in judged if row.language == "Python"
    )
    assert made.size == sum(map(len, means.values()))
    assert made.positives == sum(mean > 0 for of_query in means.values() for mean in of_query.values())
    run = tmp_path / "predictions.csv"
    with run.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["language", "query", "url"])
        for query, of_query in means.items():
            rows.writerows(["Python", query, url] for url in sorted(of_query, key=lambda url: -of_query[url]))
    wanted = parse_measures(["ndcg_within", "ndcg_all"])
    figures = evaluate_file(run, "ideal", content_of(made), Pool.COLLECTION, wanted).figures
    assert [figures[name].value for name in ("ndcg_within", "ndcg_all")] == pytest.approx([1, 1])
