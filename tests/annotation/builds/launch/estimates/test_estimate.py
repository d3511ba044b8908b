"""Pairs × shares × tokens × price, by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from annotation.builds.launch.estimates import confirmation, experience
from annotation.builds.launch.estimates.estimate import AGENTS, estimate_order
from annotation.builds.launch.estimates.figures import Estimate, Range
from annotation.builds.launch.estimates.tokens import Counter, count_request_characters
from annotation.builds.launch.order import Judge, LaunchRefused, Order
from annotation.builds.pipeline.llm_calls import BY_BATCH
from annotation.models import Build, LLMCall, Price
from annotation.stages import Stage
from retrieval.models import Annotator
from tests import factories

pytestmark = pytest.mark.django_db
WRITTEN = (Stage.WRITING_TEST, Stage.FIXING)


def order(**changes: Any) -> Order:
    made = Order("new", factories.queries(), factories.snippets(), ("bm25",), k=3, model="small-model")
    return replace(made, **changes)


def priced(**columns: Any) -> Price:
    since = datetime(2026, 1, 1, tzinfo=UTC)
    given: dict[str, Any] = {"model": "small-model", "effective_from": since, "input": 1, "output": 5}
    return Price.objects.create(**given | columns)


@pytest.mark.parametrize(
    ("change", "pairs"),
    [({}, 9), ({"k": 2}, 6), ({"k": 20}, 9), ({"limit": 4}, 4), ({"limit": 100}, 9)],
)
def test_pairs_are_queries_times_candidates_within_the_limit(change: dict[str, int], pairs: int) -> None:
    assert estimate_order(order(**change)).pairs == pairs  # three queries; three snippets pass the rule


def test_calls_follow_from_the_papers_share_of_unclear_pairs() -> None:
    stages = {stage.stage: stage.calls for stage in estimate_order(order()).stages}
    screening = stages[Stage.SCREENING]
    assert (screening.low, screening.expected) == (9, 9 * 1.02)
    assert screening.high == pytest.approx(9 * 1.15)
    assert stages[Stage.WRITING_TEST].expected == pytest.approx(9 * 0.33 * 1.02)
    assert stages[Stage.ARBITRATING].expected == stages[Stage.WRITING_TEST].expected
    assert stages[Stage.ARBITRATING].high == pytest.approx(9 * 0.5 * 1.15)
    assert stages[Stage.FIXING].expected == pytest.approx(9 * 0.33 * 0.035)
    assert stages[Stage.FIXING].high == pytest.approx(9 * 0.5 * 0.1633 * 2)


@pytest.mark.parametrize(
    ("switches", "programs", "tests"),
    [
        ({"rewrites": 0}, 1, 1),
        ({"rewrites": 1}, 2, 1),
        ({"rewrites": 3}, 4, 1),
        ({"rewrites": 0, "second_test": True}, 2, 2),
        ({"rewrites": 2, "second_test": True}, 6, 2),
    ],
)
def test_the_high_figure_has_every_program_that_the_switches_allow(
    switches: dict[str, Any], programs: int, tests: int
) -> None:
    found = estimate_order(order(**switches))
    writing, fixing = (next(s.calls for s in found.stages if s.stage == stage) for stage in WRITTEN)
    assert writing.high == pytest.approx(9 * 0.5 * 1.15 * programs)
    assert writing.expected == pytest.approx(9 * 0.33 * 1.02)
    assert fixing.high == pytest.approx(9 * 0.5 * 0.1633 * 2 * tests)
    told = [basis.figure for basis in found.basis if basis.what == "Programs of a tested pair"]
    assert told == ([f"1 (1 to {programs})"] if programs > 1 else [])


def test_what_begins_at_its_execution_may_be_given_a_second_test() -> None:
    for second, most in ((False, 0), (True, 9 * 1.15 * 2)):
        found = estimate_order(order(second_test=second), start=Stage.EXECUTING)
        writing = next(stage.calls for stage in found.stages if stage.stage == Stage.WRITING_TEST)
        assert writing.low == writing.expected == 0
        assert writing.high == pytest.approx(most)


def test_an_estimate_of_other_switches_confirms_no_launch() -> None:
    word = confirmation.sign_estimate(order(), estimate_order(order()))
    assert confirmation.confirm_estimate(order(), word)
    for changes in ({"second_test": True}, {"rewrites": 3}):
        with pytest.raises(LaunchRefused, match="has changed"):
            confirmation.confirm_estimate(order(**changes), word)


def test_one_model_alone_asks_once_a_pair_and_tests_nothing() -> None:
    stages = {stage.stage: stage.calls for stage in estimate_order(order(annotator=Judge.SINGLE_HALF)).stages}
    assert stages[Stage.SCREENING].expected == pytest.approx(9 * 1.02)
    assert stages[Stage.WRITING_TEST] == stages[Stage.FIXING] == stages[Stage.ARBITRATING] == Range.of(0)


def test_screening_by_query_takes_fewer_calls_and_fewer_tokens_for_as_many_tests() -> None:
    single, together = (estimate_order(order(screen_by_query=by)).stages for by in (False, True))
    assert together[0].calls.expected == pytest.approx(single[0].calls.expected / 3)
    assert together[0].input_tokens.expected < single[0].input_tokens.expected
    assert together[0].output_tokens.expected == pytest.approx(single[0].output_tokens.expected)
    assert together[1].calls == single[1].calls


def test_every_round_is_asked_and_paid() -> None:
    one, three = estimate_order(order()), estimate_order(order(rounds=3))
    assert (three.pairs, three.rounds) == (one.pairs, 3)
    for single, all_three in zip(one.stages, three.stages, strict=True):
        assert all_three.calls.expected == pytest.approx(3 * single.calls.expected)
        assert all_three.input_tokens.expected == pytest.approx(3 * single.input_tokens.expected)


def test_a_drift_check_has_a_line_of_its_own_where_the_build_is_long_enough(settings: Any) -> None:
    assert [stage.stage for stage in estimate_order(order(drift_check=True)).stages] == [
        *AGENTS,
        "neighbour_writer",
    ]
    settings.DRIFT_EVERY = 4
    stages = {
        stage.stage: stage for stage in estimate_order(order(drift_check=True, screen_by_query=True)).stages
    }
    asked = stages["drift_check"]
    assert asked.calls.low == 9 * (2 + 2), "a baseline of two rounds, and a check after 4 and after 8"
    single = estimate_order(order()).stages[0]
    assert asked.input_tokens.low / 36 == pytest.approx(single.input_tokens.low / 9), "pair by pair, always"
    assert "drift_check" not in {stage.stage for stage in estimate_order(order()).stages}


def test_without_fixing_rounds_nothing_is_fixed() -> None:
    stages = {stage.stage: stage for stage in estimate_order(order(fix_rounds=0)).stages}
    assert stages[Stage.FIXING].calls == stages[Stage.FIXING].input_tokens == Range.of(0)


def test_dollars_are_tokens_at_the_price_in_force() -> None:
    priced(input=100, effective_from=datetime(2025, 1, 1, tzinfo=UTC))
    now = priced(note="list price")
    found = estimate_order(order())
    assert found.price is not None and found.cost is not None
    assert (found.price.id, found.price.input, found.price.note) == (now.pk, "1", "list price")
    for stage in found.stages:
        assert stage.cost is not None
        by_hand = 1000 * round(stage.input_tokens.expected) + 5000 * round(stage.output_tokens.expected)
        assert stage.cost.expected == by_hand
    assert found.cost.low < found.cost.expected < found.cost.high


def test_without_a_price_there_are_no_dollars_but_all_the_rest() -> None:
    found = estimate_order(order())
    assert (found.price, found.cost) == (None, None)
    assert found.calls.expected > 9


def test_a_providers_counter_decides_the_length_of_the_prompts() -> None:
    counter = Counter(
        "the provider's own counter", lambda requests: [count_request_characters(one) for one in requests]
    )
    many, few = estimate_order(order(), counter), estimate_order(order())
    screening, locally = many.stages[0].input_tokens, few.stages[0].input_tokens
    assert screening.expected == pytest.approx(locally.expected * 3.6)


def test_the_arbiter_reads_a_program_and_a_report_that_nobody_has_yet() -> None:
    arbitrating = next(one for one in estimate_order(order()).stages if one.stage == Stage.ARBITRATING)
    each = arbitrating.input_tokens.expected / arbitrating.calls.expected
    assert each > experience.OUTPUT["test_writer"].expected + experience.REPORT.expected


def test_it_survives_being_stored() -> None:
    priced()
    found = estimate_order(order())
    assert Estimate.from_json(found.to_json()) == found


def measured() -> Build:
    """A finished build of 24 cases, eight of them tested, whose replies are long."""
    words = [f"reverse list {number}" for number in range(8)]
    mining = factories.mining(factories.queries(words, "earlier"), factories.snippets(), k=3)
    build = factories.launched("earlier", mining=mining, opened=True)
    pool = [member.text for member in build.snippets.members.select_related("text")][:3]
    for member in build.queries.members.select_related("text"):
        for rank, snippet in enumerate(pool, start=1):
            factories.open_case(build, factories.candidate(mining, member.text, snippet, rank))
    for number, case in enumerate(factories.cases(build)):
        factories.settled(case, number % 2)
    build.tally.change(calls=42, programs=10, unclear=8, cleared=-8)
    Build.objects.filter(pk=build.pk).update(state=Build.State.DONE, finished_at=datetime.now(UTC))
    return build


def test_what_earlier_builds_measured_takes_the_place_of_what_is_assumed() -> None:
    measured()
    known = experience.of_model("small-model")
    assert known.unclear.expected == pytest.approx(8 / 24)
    assert known.unclear.low < 8 / 24 < known.unclear.high
    assert known.outputs["screener"].expected == 60
    assert known.outputs["screener"].low == pytest.approx(54)
    assert known.again.expected == 1.0  # 24 screenings, 10 programs of 8 pairs, 8 verdicts: 42 calls
    assert known.outputs["arbiter"] == experience.OUTPUT["arbiter"]  # there were too few of them
    sources = {basis.what: basis.source for basis in known.basis}
    assert sources["Unclear to the screener"] == sources["Tokens of a reply"] == "measured"
    assert sources["Calls of the fixer for a tested pair"] == "assumed"


def test_other_models_and_builds_that_go_on_teach_nothing() -> None:
    build = measured()
    assert experience.of_model("another-model").basis[0].source == "paper"
    Build.objects.filter(pk=build.pk).update(state=Build.State.PAUSED)
    assert experience.of_model("small-model").basis[0].source == "paper"


def test_a_single_llm_says_nothing_of_what_agents_would_test() -> None:
    build = measured()
    alone, _ = Annotator.objects.get_or_create(kind=Annotator.Kind.SINGLE_LLM, name="alone", version=1)
    Build.objects.filter(pk=build.pk).update(annotator=alone)
    LLMCall.objects.filter(build=build).update(agent="single_llm")
    known = experience.of_model("small-model")
    assert known.unclear == experience.UNCLEAR
    assert known.basis[0].source == "paper"


def test_one_model_alone_is_as_wordy_as_it_was() -> None:
    single = order(annotator=Judge.SINGLE_HALF)
    before = estimate_order(single).stages[0]
    build = measured()
    alone, _ = Annotator.objects.get_or_create(kind=Annotator.Kind.SINGLE_LLM, name="alone", version=1)
    Build.objects.filter(pk=build.pk).update(annotator=alone)
    LLMCall.objects.filter(build=build).update(agent="single_llm")
    after = estimate_order(single).stages[0]
    assert before.output_tokens.expected == pytest.approx(9 * 1.02 * 160)
    assert after.output_tokens.expected == pytest.approx(after.calls.expected * 60)


def test_a_reply_about_all_candidates_of_a_query_is_taken_for_as_many() -> None:
    build = measured()
    LLMCall.objects.filter(build=build).update(agent="query_screener", output_tokens=90)
    known = experience.of_model("small-model")
    assert known.outputs["query_screener"].expected == 90 // build.own_mining.k


def test_prices_are_shown_without_an_exponent() -> None:
    priced(input=Decimal("100.000000"), output=Decimal("0.100000"))
    found = estimate_order(order()).price
    assert found is not None and (found.input, found.output) == ("100", "0.1")


def test_batches_halve_the_price_of_screener_and_test_writer_alone() -> None:
    priced()
    live, batched = estimate_order(order()), estimate_order(order(batches=True))
    for one, other in zip(live.stages, batched.stages, strict=True):
        assert one.cost is not None and other.cost is not None
        share = 0.5 if one.stage in {*BY_BATCH, "neighbour_writer"} else 1.0
        assert other.cost.expected == pytest.approx(share * one.cost.expected)
        assert (other.calls, other.input_tokens) == (one.calls, one.input_tokens)
    assert "half" in [basis.figure for basis in batched.basis]
    assert "half" not in [basis.figure for basis in live.basis]


@pytest.mark.parametrize(
    "switches",
    [
        {},
        {"rounds": 3},
        {"screen_by_query": True},
        {"rewrites": 2, "second_test": True},
        {"fix_rounds": 0},
        {"annotator": Judge.SINGLE_HALF},
        {"drift_check": True},
    ],
)
def test_stages_add_up_to_the_total_and_every_range_is_in_order(
    switches: dict[str, Any], settings: Any
) -> None:
    settings.DRIFT_EVERY = 2
    priced()
    found = estimate_order(order(**switches))
    for name in ("calls", "input_tokens", "output_tokens", "cost"):
        ranges, total = [getattr(stage, name) for stage in found.stages], getattr(found, name)
        assert all(0 <= one.low <= one.expected <= one.high for one in (*ranges, total)), name
        for end in ("low", "expected", "high"):
            whole = sum(getattr(one, end) for one in ranges)
            assert getattr(total, end) == pytest.approx(whole), (name, end)
    assert found.calls.expected > 0 and found.cost is not None and found.cost.expected > 0
