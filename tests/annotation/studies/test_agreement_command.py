"""`manage.py agreement`: a file becomes a study, or nothing; and what the report says."""

from __future__ import annotations

import json
import tracemalloc
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import AuditEvent, Condition, ImportedRating, Rating, Study
from annotation.studies.report.agreement_report import Given, compute_agreement_report, report_study_agreement
from tests import studies
from tests.annotation.studies.rated import rated_study

pytestmark = pytest.mark.django_db
TWO_RATERS = "item,rater,label\n" + "".join(
    f"{item},{rater},{label}\n"
    for rater, labels in (("ann", "110010"), ("bob", "110110"))
    for item, label in enumerate(labels)
)
ROWS = "Language,Query,GitHubUrl,Relevance,Notes\n"


def run(*args: object) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("agreement", *map(str, args), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def loaded(tmp_path: Path, text: str, form: str = "csv") -> dict[str, Any]:
    """The report of a file with this text."""
    path = tmp_path / "labels.csv"
    path.write_text(text)
    run("import", path, "--name", "theirs", "--format", form)
    found: dict[str, Any] = json.loads(run("report", "theirs", "--json")[0])
    return found


def test_two_raters_by_hand(tmp_path: Path) -> None:
    """Five of six alike; values: seven 1, five 0. Alpha 1 − 11 · 1 ÷ (7 · 5) = 0.6857; kappa of rows 3/3 and
    4/2: chance (3·4 + 3·2) ÷ 36 = 0.5, so (5/6 − 0.5) ÷ 0.5 = 2/3.
    """
    found = loaded(tmp_path, TWO_RATERS)
    counts = {"items": 6, "raters": 2, "labels": 12, "items_with_two": 6, "queries": 6}
    assert {name: found[name] for name in counts} == counts
    for level in ("nominal", "ordinal", "interval"):
        assert found[f"alpha_{level}"] == pytest.approx(1 - 11 / 35)
    assert found["kappa_quadratic"] == pytest.approx(2 / 3)
    assert found["percent_agreement"] == pytest.approx(5 / 6)
    low, high = found["intervals"]["alpha_nominal"]
    assert low < found["alpha_nominal"] < high


def test_it_is_a_closed_study_without_a_build(tmp_path: Path) -> None:
    loaded(tmp_path, TWO_RATERS)
    study = Study.objects.get()
    assert AuditEvent.objects.filter(verb="study made", study=study, detail__labels=12).exists()
    assert (study.kind, study.state, study.scale) == ("imported", "closed", "binary")
    assert study.planned_pairs == 6 and study.created_by is None and study.frozen_at is None
    first = study.imported.order_by("row")[0]
    assert (first.row, first.item_text, first.rater, first.value) == (1, "0", "ann", 1)


def test_without_raters_labels_of_one_item_are_pairs_in_row_order_and_it_says_so(tmp_path: Path) -> None:
    """Item a: 3 then 1; item b: 0 then 0; c alone. Kappa: far 4 of two; firsts 3, 0, seconds 1, 0; expected
    (4 + 9 + 1 + 0) ÷ 2 = 7: 1 − 4 ÷ 7. Symmetrised all are 3, 1, 0, 0 half each: expected 6: 1 − 4 ÷ 6.
    """
    found = loaded(
        tmp_path, ROWS + "Go,q,a,3,\nGo,r,b,0,\nGo,q,a,1,\nGo,r,b,0,\nGo,r,c,2,\n", "codesearchnet"
    )
    assert (found["items"], found["raters"], found["labels"], found["items_with_two"]) == (3, None, 5, 2)
    assert found["kappa_quadratic"] == pytest.approx(3 / 7)
    assert found["kappa_quadratic_symmetrised"] == pytest.approx(1 - 4 / 6)
    assert any("no rater" in note and "row order" in note for note in found["notes"])
    assert any("fewer than 30" in note for note in found["notes"])


def test_a_csv_without_raters_is_paired_and_told_as_codesearchnets_is(tmp_path: Path) -> None:
    rows = [("a", 3), ("b", 0), ("a", 1), ("b", 0), ("c", 2)]
    found = loaded(tmp_path, "item,label\n" + "".join(f"{item},{label}\n" for item, label in rows))
    assert (found["items"], found["raters"], found["labels"], found["items_with_two"]) == (3, None, 5, 2)
    assert found["kappa_quadratic"] == pytest.approx(3 / 7)
    assert any("no rater" in note and "row order" in note for note in found["notes"])
    assert "raters not named" in run("report", "theirs")[0]


def test_what_has_no_value_is_null_with_a_reason(tmp_path: Path) -> None:
    found = loaded(tmp_path, "item,rater,label\na,ann,1\nb,ann,0\n")
    for name in ("alpha_nominal", "alpha_ordinal", "alpha_interval", "kappa_quadratic"):
        assert found[name] is None and found["intervals"][name] is None and found["undefined"][name]
    assert found["items_with_two"] == 0


def test_what_has_a_value_and_an_interval_is_not_called_undefined(tmp_path: Path) -> None:
    found = loaded(tmp_path, "item,rater,label\na,ann,1\na,bob,1\nb,ann,1\nb,bob,1\n")
    assert found["percent_agreement"] == 1 and found["intervals"]["percent_agreement"]
    assert "percent_agreement" not in found["undefined"]
    assert found["remarks"] == {
        "percent_agreement": "no exception in 2: by the rule of three at most 100.0 % of all"
    }


def test_an_item_with_thousands_of_labels_costs_as_much_as_they_are() -> None:
    """As a table of items by labels these would take 320 MB."""
    many = [Given("flood", "q", "", float(number % 4)) for number in range(20_000)]
    twos = [Given(f"{item}", f"{item}", "", float(item % 4)) for item in range(2000) for _ in "ab"]
    tracemalloc.start()
    found = compute_agreement_report("theirs", [*many, *twos])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.items_with_two, found.labels) == (2001, 24_000)
    assert peak < 100_000_000, peak


def test_items_of_one_query_are_resampled_together(tmp_path: Path) -> None:
    text = "query,item,rater,label\n" + "".join(
        f"{query},{query}-{item},{rater},{int(query % 3 == 0) ^ (rater == 'bob' and query % 5 == 0)}\n"
        for query in range(10)
        for item in range(4)
        for rater in ("ann", "bob")
    )
    together = loaded(tmp_path, text)
    alone = tmp_path / "alone.csv"
    alone.write_text("\n".join(line.split(",", 1)[1] for line in text.splitlines()))
    run("import", alone, "--name", "alone", "--format", "csv")
    apart = json.loads(run("report", "alone", "--json")[0])
    assert (together["queries"], apart["queries"]) == (10, 40)
    assert together["alpha_nominal"] == apart["alpha_nominal"]
    (low, _), (lower, _) = apart["intervals"]["alpha_nominal"], together["intervals"]["alpha_nominal"]
    assert lower < low
    assert any("no query column" in note for note in apart["notes"])
    assert not any("no query column" in note for note in together["notes"])


def test_the_report_to_be_read(tmp_path: Path) -> None:
    loaded(tmp_path, TWO_RATERS)
    text, _ = run("report", "theirs")
    assert "6 items, 6 with two labels or more, 12 labels, 2 raters" in text
    assert "alpha_nominal" in text and "0.686" in text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("item,rater,label\na,ann,1\n", "1 label of 1 item is in study 'theirs'; "),
        ("item,label\na,1\na,0\n", "2 labels of 1 item are in study 'theirs'; the file names no rater; "),
    ],
)
def test_an_import_says_what_it_stored(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    assert run("import", path, "--name", "theirs", "--format", "csv")[0].startswith(told)


def test_the_report_of_one_label(tmp_path: Path) -> None:
    loaded(tmp_path, "item,rater,label\na,ann,1\n")
    assert "1 item, 0 with two labels or more, 1 label, 1 rater\n" in run("report", "theirs")[0]


def test_a_broken_file_stores_nothing_and_names_each_line(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,rater,label\na,ann,1\nb,ann,maybe\nc,,1\n")
    errors = StringIO()
    with pytest.raises(CommandError, match=r"line 4: rater is empty\nNothing was stored"):
        call_command("agreement", "import", str(path), "--name", "it", "--format", "csv", stderr=errors)
    assert "line 3: a label is a number, found 'maybe'" in errors.getvalue()
    assert not Study.objects.exists() and not ImportedRating.objects.exists()


def test_a_file_that_is_not_there_or_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(CommandError, match="can't be read"):
            run("import", path, "--name", "it", "--format", "csv")


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    loaded(tmp_path, TWO_RATERS)
    with pytest.raises(CommandError, match="choose another --name"):
        run("import", tmp_path / "labels.csv", "--name", "theirs", "--format", "csv")
    assert ImportedRating.objects.count() == 12


@pytest.mark.parametrize("name", ["", "  ", "x" * 121])
def test_a_name_has_1_to_120_characters(tmp_path: Path, name: str) -> None:
    with pytest.raises(CommandError, match="expected 1 to 120 characters"):
        run("import", tmp_path / "labels.csv", "--name", name, "--format", "csv")


def test_a_study_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="no study called 'nothing'"):
        run("report", "nothing")


def test_ratings_of_the_reference_condition_are_reported_too() -> None:
    """Three pairs by two raters: 11, 00, 10. Revised, unsure and other conditions' labels don't count."""
    study = studies.study(conditions=(Condition.Kind.OWN_TESTS, Condition.Kind.READING))
    pairs = list(study.pairs.order_by("number"))
    for name, values in (("rosa", (1, 0, 1)), ("ruth", (1, 0, 0))):
        rater = studies.rater(name, study, Condition.Kind.OWN_TESTS)
        for pair, value in zip(pairs, values, strict=True):
            studies.rated(rater, value, pair)
    last = Rating.objects.order_by("-pk")[0]
    Rating.objects.create(
        assignment=last.assignment, value=1, revision=1, phase=Rating.Phase.REVISED, evidence="0" * 64
    )
    reader = studies.rater("rex", study, Condition.Kind.READING)
    studies.rated(reader, 1, pairs[1])
    unsure = studies.rater("una", study, Condition.Kind.OWN_TESTS)
    studies.rated(unsure, None, pairs[0])
    found = json.loads(run("report", study.name, "--json")[0])
    assert (found["items"], found["raters"], found["labels"], found["items_with_two"]) == (3, 2, 6, 3)
    assert found["alpha_nominal"] == pytest.approx(1 - 5 * 1 / 9)


def test_a_study_whose_planned_ratings_are_missing_is_called_interim() -> None:
    study = rated_study([[1, 0, 1], [1, 0, 0]])
    assert not any("Interim" in note for note in report_study_agreement(study).notes)
    study.pairs.get(number=3).quotas.update(wanted=3)
    found = json.loads(run("report", study.name, "--json")[0])
    assert found["notes"][0].startswith("Interim") and found["labels"] == 6


def test_nothing_rated_yet_and_two_snippets_have_no_report() -> None:
    studies.study()
    with pytest.raises(CommandError, match="Nobody has labelled anything"):
        run("report", "first study")
    Study.objects.update(kind=Study.Kind.PAIRWISE)
    with pytest.raises(CommandError, match="which of two functions"):
        run("report", "first study")


@pytest.mark.real_data
def test_the_real_file(real_data: Path) -> None:
    """Pitfall E9: of this part 26 queries have an item with two labels; alpha (interval) about
    [0.389, 0.635] over queries.
    """
    path = real_data / "codesearchnet" / "annotationStore-part.csv"
    run("import", path, "--name", "CodeSearchNet", "--format", "codesearchnet")
    found = json.loads(run("report", "CodeSearchNet", "--json")[0])
    assert (found["items"], found["labels"], found["items_with_two"], found["queries"]) == (
        1542,
        1822,
        224,
        26,
    )
    assert found["alpha_interval"] == pytest.approx(0.524, abs=1e-3)
    assert found["intervals"]["alpha_interval"] == pytest.approx([0.389, 0.635], abs=0.015)
