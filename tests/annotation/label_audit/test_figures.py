"""An audit's figures: who says what of which label, and shares whose sums are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.builds.launch.order import Judge
from annotation.builds.pipeline.labels import annotator_of_person
from annotation.label_audit import Audit, AuditCell, Experts, How, audit_of, figures_of
from annotation.models import Build, Case
from retrieval.models import Label
from tests import factories, given

pytestmark = pytest.mark.django_db
ROWS = [
    {"query": f"query {number // 2}", "code": f"def f{number}(x): return x", "label": label}
    for number, label in enumerate((1, 1, 1, 0, 0, None))
]
"""Three queries of two pairs: labels 1 1, 1 0, 0 and none."""


def audit(build: Build) -> Audit:
    return audit_of(build, Build.objects.all())


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Agents say 1 0, 0 0, nothing (abandoned), 1; so of the labels the first and the fourth are upheld."""
    pairs = given.pair_list(tmp_path, ROWS)
    return given.judged(pairs, 1, 0, 0, 0, None, 1)


def test_the_cross_table_has_every_pair_once(build: Build) -> None:
    cells = figures_of(audit(build)).cells
    assert cells == {
        AuditCell(1, "1", Experts.NONE): 1,
        AuditCell(1, "0", Experts.NONE): 2,
        AuditCell(0, "0", Experts.NONE): 1,
        AuditCell(0, "abandoned", Experts.NONE): 1,
        AuditCell(None, "1", Experts.NONE): 1,
    }


def test_shares_are_of_labels_that_were_judged(build: Build) -> None:
    figures = figures_of(audit(build))
    told = {(one.what, one.original, one.by): (one.share.part, one.share.whole) for one in figures.rates}
    assert told == {
        ("upheld", None, ""): (2, 4),  # 1 of three matches and 1 of the one no match that was judged
        ("upheld", 1, ""): (1, 3),
        ("upheld", 0, ""): (1, 1),
        ("upheld", None, "screener"): (2, 4),
        ("upheld", 1, "screener"): (1, 3),
        ("upheld", 0, "screener"): (1, 1),
        ("unjudged", None, ""): (1, 6),
        ("unjudged", 1, ""): (0, 3),
        ("unjudged", 0, ""): (1, 2),
        ("unjudged", None, "sandbox"): (1, 6),
    }
    share = figures.rate("upheld", 1)
    assert share is not None and share.value == pytest.approx(1 / 3)
    assert share.low is not None and share.high is not None and share.low < 1 / 3 < share.high
    assert figures.queries == 3


def test_pairs_of_one_query_are_resampled_together(tmp_path: Path) -> None:
    """Forty queries of four pairs each that are upheld or not as one: the interval is that of 40, not 160."""
    rows = [
        {"query": f"query {query}", "code": f"def f{query}_{place}(x): return x", "label": 1}
        for query in range(40)
        for place in range(4)
    ]
    pairs = given.pair_list(tmp_path, rows)
    build = given.judged(pairs, *(query % 2 for query in range(40) for _ in range(4)))
    share = figures_of(audit(build)).rate("upheld", 1)
    assert share is not None and share.low is not None and share.high is not None
    assert (share.part, share.whole) == (80, 160)
    # a share of a half has a standard error of sqrt(0.25 / 40) = 0.079, and of 160 pairs alone 0.040
    assert share.high - share.low == pytest.approx(2 * 1.96 * 0.079, abs=0.04)


def test_how_a_pair_was_settled_is_told(tmp_path: Path) -> None:
    pairs = given.pair_list(tmp_path, ROWS)
    build = given.build(pairs)
    first, second, *_ = factories.cases(build)
    factories.settled(first, 1)
    factories.examined(second, 0)
    hows = [row.verdicts[0].how for row in audit(build).rows if row.verdicts[0]]
    assert hows == [How.SCREENER, How.TESTED, *[How.OPEN] * 4]
    figures = figures_of(audit(build))
    tested, screened = figures.rate("upheld", 1, "tested"), figures.rate("upheld", 1, "screener")
    assert tested is not None and (tested.part, tested.whole) == (0, 1)
    assert screened is not None and (screened.part, screened.whole) == (1, 1)
    assert figures.rate("unjudged", 1) is not None  # of the two that came to an end, none was abandoned


def say(build: Build, number: int, value: int | None, *people: str) -> None:
    """Assisted labels of people for the pair at that place."""
    case = factories.cases(build)[number]
    for name in people:
        by = annotator_of_person(factories.person(name))
        Label.objects.create(pair=case.pair, annotator=by, value=value, assisted=True, source="review")


def test_experts_count_as_the_merge_rule_takes_them(build: Build) -> None:
    say(build, 0, 0, "erin", "eve")  # two agree, against the label 1
    say(build, 1, 1, "erin")  # one alone
    say(build, 2, 1, "erin")
    say(build, 2, 0, "eve")  # one against one
    say(build, 3, None, "erin")  # unsure
    rows = audit(build).rows
    told = [row.experts for row in rows]
    assert told == [Experts.NO_MATCH, Experts.FEW, Experts.FEW, *[Experts.NONE] * 3]
    share = figures_of(audit(build)).rate("upheld", 1, "experts")
    assert share is not None and (share.part, share.whole) == (0, 1)


def test_a_pair_differs_where_not_all_say_the_same(build: Build) -> None:
    #    original  1      1     1     0      0      –
    #    agents    1      0     0     0      –      1
    assert [row.differs for row in audit(build).rows] == [False, True, True, False, False, False]
    say(build, 3, 1, "erin", "eve")
    assert [row.differs for row in audit(build).rows] == [False, True, True, True, False, False]


def test_builds_of_the_same_pairs_stand_side_by_side(build: Build) -> None:
    assert build.pair_list is not None
    alone = given.judged(build.pair_list, 1, 1, 1, 1, 1, 1, name="alone", judge=Judge.SINGLE_EXACT)
    Build.objects.filter(pk=alone.pk).update(annotator=factories.single_llm())
    found = audit(build)
    assert [one.name for one in found.builds] == ["audit", "alone"]
    second = figures_of(found, 1).rate("upheld", 0, "alone")
    assert second is not None and (second.part, second.whole) == (0, 2)
    assert [one.name for one in audit(Build.objects.get(name="alone")).builds] == ["alone", "audit"]
    hidden = audit_of(build, Build.objects.filter(pk=build.pk))
    assert [one.name for one in hidden.builds] == ["audit"]


def test_before_anything_is_judged_there_are_no_rates(tmp_path: Path) -> None:
    build = given.build(given.pair_list(tmp_path, ROWS))
    figures = figures_of(audit(build))
    assert figures.rates == () and figures.pairs == 6 == Case.objects.count()


def test_a_pair_beyond_the_limit_of_a_build_is_open(tmp_path: Path) -> None:
    build = given.build(given.pair_list(tmp_path, ROWS))
    Case.objects.filter(build=build, query=factories.cases(build)[0].query_id).delete()
    cells = figures_of(audit(build)).cells
    assert sum(cells.values()) == 6 and {cell.said for cell in cells} == {"open"}
