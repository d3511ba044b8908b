"""Which queries and snippets a mining takes: the first so many, or those that were chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

from retrieval.filters.queries import QueryRule
from retrieval.mining import NothingToMine, perform_mining
from retrieval.models import Mining
from tests import factories
from tests.annotation.derived.extension.test_execution import add

pytestmark = pytest.mark.django_db
WORDS = tuple(f"sort {word}" for word in ("rows", "words", "dates", "files", "keys"))
CODES = tuple(f"def sort_{word}({word}):\n    return sorted({word})\n" for word in ("rows", "words", "dates"))


def mining(**columns: object) -> Mining:
    within = factories.snippets(CODES)
    wanted = {"encoders": ["bow"], "k": 2, "state": Mining.State.WAITING, **columns}
    return factories.mining(factories.queries(WORDS), within, **wanted)


def mined(row: Mining) -> list[str]:
    return sorted(set(row.candidates.values_list("query__head", flat=True)))


def test_without_a_choice_the_first_so_many_are_mined(tmp_path: Path) -> None:
    row = mining(limit=2)
    assert perform_mining(row, tmp_path) == 4
    assert mined(row) == sorted(WORDS[:2])


def test_chosen_queries_alone_are_mined(tmp_path: Path) -> None:
    row = mining(chosen=[0, 3, 4], limit=1)
    assert perform_mining(row, tmp_path) == 6
    assert mined(row) == sorted((WORDS[0], *WORDS[3:]))


@pytest.mark.parametrize("how", [{}, {"chosen": [0, 1, 2]}])
def test_queries_that_pass_the_rule_alone_are_mined(tmp_path: Path, how: dict[str, object]) -> None:
    asked = factories.queries(("tf.sort", "sort rows", "python sort row", "sort dates"))
    row = factories.mining(asked, factories.snippets(CODES), encoders=["bow"], k=1, limit=2, **how)
    Mining.objects.filter(pk=row.pk).update(query_rule=int(QueryRule.NO_IDENTIFIER | QueryRule.DISTINCT))
    row.refresh_from_db()
    perform_mining(row, tmp_path)
    assert mined(row) == (["sort rows"] if how else ["sort dates", "sort rows"])


def test_a_mining_by_terms_of_which_none_is_shared_is_no_mining(tmp_path: Path) -> None:
    row = factories.mining(factories.queries(("???", "zzzz")), factories.snippets(CODES), encoders=["bm25"])
    with pytest.raises(NothingToMine, match="No query shares a term with any function"):
        perform_mining(row, tmp_path)


def test_a_pair_without_a_common_term_is_no_candidate(tmp_path: Path) -> None:
    row = factories.mining(
        factories.queries(("zzzz", "rows")), factories.snippets(CODES), encoders=["bm25"], k=3
    )
    assert perform_mining(row, tmp_path) == 1
    assert mined(row) == ["rows"]


def test_a_rule_that_no_query_passes_is_to_blame(tmp_path: Path) -> None:
    row = factories.mining(factories.queries(("tf.sort",)), factories.snippets(CODES), encoders=["bow"])
    row.query_rule = int(QueryRule.NO_IDENTIFIER)
    row.save()
    with pytest.raises(NothingToMine, match="has no queries that pass the rule"):
        perform_mining(row, tmp_path)


def test_a_mining_is_fused_as_it_was_ordered(tmp_path: Path) -> None:
    """By `maxabs` each encoder's best snippet of a query has 1."""
    row = mining(encoders=["bow", "bm25"], fusion="maxabs", k=3)
    perform_mining(row, tmp_path)
    for query in WORDS[:3]:
        found = row.candidates.filter(query__head=query)
        for name in row.encoders:
            assert max(one.scores[name]["entering"] for one in found) == 1.0


def test_a_snippet_whose_docstring_cannot_be_told_is_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut_off = 'def sort(rows):\n    """sort rows"""\n    return (rows'
    old = "def order(rows):\n    'sort rows'\n    print rows"
    row = factories.mining(
        factories.queries(("sort rows",)),
        factories.snippets((cut_off, old, "def sort(): return rows")),
        encoders=["bow"],
        k=3,
        rule=0,
        text_option="without docstring",
        state=Mining.State.WAITING,
    )
    call_command("mine", row.pk)
    assert "1 function left out of the search: their docstring" in capsys.readouterr().out
    found = row.candidates.order_by("rank").values_list("pair__snippet__head", flat=True)
    assert [head.splitlines()[0] for head in found] == ["def sort(): return rows", "def order(rows):"]


def test_the_command_takes_another_fusion_and_remembers_it(capsys: pytest.CaptureFixture[str]) -> None:
    row = mining(encoders=["bow"], k=1, limit=1)
    call_command("mine", row.pk, fusion="maxabs")
    row.refresh_from_db()
    assert (row.fusion, row.state, row.candidates.get().score) == ("maxabs", Mining.State.DONE, 1.0)
    assert capsys.readouterr().out == "1 candidate\nby maxabs of bow; text: whole\n"


def test_a_mining_keeps_to_the_snippets_that_there_were(tmp_path: Path) -> None:
    first = mining()
    perform_mining(first, tmp_path)
    assert first.until == 3
    add(("def sort_rows_again(rows):\n    return sorted(rows)  # sort rows\n",), first.snippets)
    for until, found in ((3, 3), (None, 4)):
        row = mining(until=until, k=9)
        assert perform_mining(row, tmp_path) == found * len(WORDS)
    for row in Mining.objects.exclude(pk=first.pk):
        ranked = row.candidates.filter(rank__lte=2, query__head=WORDS[1]).values_list("pair", flat=True)
        if row.until == 3:
            before = first.candidates.filter(query__head=WORDS[1]).values_list("pair", flat=True)
            assert list(ranked.order_by("rank")) == list(before.order_by("rank"))
