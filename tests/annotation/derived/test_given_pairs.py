"""A build of given pairs: launched from the command line, judged like any other, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotation.builds.launch.estimates import confirmation
from annotation.builds.launch.estimates.estimate import estimate_order
from annotation.builds.launch.from_build import order_of
from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import Judge, LaunchRefused, Order
from annotation.derived.derivation import Who, orders_of
from annotation.derived.extension import extension_plan
from annotation.jobs import worker
from annotation.models import Build, BuildEvent, Case
from annotation.review.worklists.order import Disputed, Show, cases_of_worklist, next_case
from annotation.web.review.worklists import build_lines
from retrieval.models import Mining, PairList
from tests import factories, given

pytestmark = pytest.mark.django_db


def order(pairs: PairList, **more: Any) -> Order:
    return Order("audit", pairs.queries, pairs.snippets, (), given=pairs, **more)


def test_a_build_judges_exactly_the_given_pairs_and_mines_nothing(tmp_path: Path) -> None:
    path = given.json_file(tmp_path)
    call_command("build", "audit", "--pairs", str(path))
    build = Build.objects.get()
    assert build.pair_list is not None and (build.mining, build.pair_list.size) == (None, 5)
    worker.look_after(build)
    cases = Case.objects.filter(build=build)
    assert set(cases.values_list("pair", flat=True)) == set(build.proposed.values_list("pair", flat=True))
    assert (cases.count(), Mining.objects.count(), build.tally.total) == (5, 0, 5)
    note = BuildEvent.objects.get(event="launched").note
    assert note.startswith("5 pairs of the given pairs of dev.json; model any")


def test_a_benchmark_is_judged_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given.pair_list(tmp_path)
    call_command("build", "audit", "--pairs", "dev", "--limit", "3")
    build = Build.objects.get()
    assert build.pair_list is not None and build.pair_list.size == 4
    worker.look_after(build)
    assert Case.objects.count() == 3
    assert "4 given pairs from dev@1, labels in dev@1" in capsys.readouterr().out


def test_several_annotators_have_a_build_each_over_one_list(tmp_path: Path) -> None:
    path = given.json_file(tmp_path)
    call_command("build", "audit", "--pairs", str(path), "--annotator", "agents,single_exact,experts")
    builds = list(Build.objects.order_by("pk"))
    assert [build.name for build in builds] == ["audit agents", "audit single_exact", "audit experts"]
    assert [build.annotator.kind for build in builds] == ["agents", "single_llm", "agents"]
    assert len({build.pair_list_id for build in builds}) == PairList.objects.count() == 1


def test_experts_have_the_pairs_in_review_and_no_agent_is_asked(tmp_path: Path) -> None:
    call_command("build", "audit", "--pairs", str(given.json_file(tmp_path)), "--annotator", "experts")
    build = Build.objects.select_related("tally").get()
    assert (build.name, build.state, build.for_experts) == ("audit", Build.State.PAUSED, True)
    erin = factories.erin()
    (line,) = build_lines(erin, Build.objects.all())
    assert (line["for_experts"], line["left"]) == (True, 5)
    assert next_case(erin, build, Show.UNSETTLED) is not None


def test_what_would_be_paid_is_estimated_of_the_given_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("build", "audit", "--pairs", str(given.json_file(tmp_path)), "--estimate")
    told = capsys.readouterr().out
    assert "screening     5 (5 to 6) calls" in told and not Build.objects.exists()
    pairs = PairList.objects.get()
    assert (estimate_order(order(pairs)).pairs, estimate_order(order(pairs, limit=2)).pairs) == (5, 2)
    plain = Order("audit", pairs.queries, pairs.snippets, ())
    assert confirmation.build_order_key(order(pairs)) != confirmation.build_order_key(plain)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "A build needs --queries and --functions, or given pairs"),
        (("--pairs", "nowhere.json"), "no such file. There is no benchmark 'nowhere.json'"),
        (("--queries", "small", "--snippets", "small", "--annotator", "agents,experts"), "judge given pairs"),
        (("--pairs", "FILE", "--queries", "small"), "Name both --queries and --functions"),
        (("--pairs", "BAD"), "has no columns of queries and of code"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    factories.queries()
    factories.snippets()
    files = {"FILE": given.json_file(tmp_path), "BAD": given.json_file(tmp_path, [{"doc": "a"}], "bad.json")}
    with pytest.raises(CommandError, match=words):
        call_command("build", "audit", *(str(files.get(one, one)) for one in options))
    assert not Build.objects.exists()


def test_bad_rows_are_told_and_left_out_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = given.json_file(tmp_path, [*given.ROWS, {"doc": "no code"}])
    with pytest.raises(CommandError, match=r"(?s)dev\.json.*6.*1 row can’t be read"):
        call_command("build", "audit", "--pairs", str(path))
    assert not PairList.objects.exists()
    call_command("build", "audit", "--pairs", str(path), "--skip-bad-rows")
    told = capsys.readouterr()
    assert "5 given pairs from dev.json, labels in audit@1; 1 row left out" in told.out
    assert "no code" not in told.err and "code" in told.err


@pytest.mark.parametrize("name", ["boss", ""])
def test_an_annotator_that_nobody_knows_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CommandError, match="choose from agents, single_exact, single_half, experts"):
        call_command("build", "audit", "--pairs", str(given.json_file(tmp_path)), f"--annotator={name}")


def test_a_name_that_is_taken_launches_none_of_several(tmp_path: Path) -> None:
    pairs = given.pair_list(tmp_path)
    given.build(pairs, "audit single_exact")
    who = Who((Judge.AGENTS, Judge.SINGLE_EXACT))
    with pytest.raises(LaunchRefused, match="'audit single_exact' already"):
        orders_of(order(pairs), who)
    assert Build.objects.count() == 1


def test_its_order_can_be_read_back_and_it_is_not_extended(tmp_path: Path) -> None:
    build = given.judged(given.pair_list(tmp_path), 1, 0, 1, 0, 1)
    again = order_of(build)
    assert (again.given, again.encoders) == (build.pair_list, ())
    assert "judges given pairs" in extension_plan.why_not(build)


def test_it_judges_each_pair_in_rounds_and_screens_by_query(tmp_path: Path) -> None:
    build = launch_build(order(given.pair_list(tmp_path), rounds=2, screen_by_query=True))
    worker.look_after(build)
    assert Case.objects.filter(build=build).count() == 10


def test_a_build_is_of_one_source(tmp_path: Path) -> None:
    build = given.build(given.pair_list(tmp_path))
    mining = factories.mining(build.queries, build.snippets)
    for source in ({"mining": mining}, {"pair_list": None}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Build.objects.filter(pk=build.pk).update(**source)


def test_the_pairs_that_differ_from_their_label_go_to_review(tmp_path: Path) -> None:
    build = given.judged(given.pair_list(tmp_path), 0, 0, 1, 1, 1)  # labels 1 0 1 0 and none
    found = cases_of_worklist(factories.erin(), build, Disputed())
    assert [case.query.head for case in found] == ["sort a list", "add numbers"]
    mined = factories.said(factories.opened("mined"), (1, 0, 1))
    assert not cases_of_worklist(factories.erin(), mined, Disputed()).exists()
