from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.builds.results import progress
from annotation.models import Build, Case, LLMCall, Price, Step, Tally
from annotation.stages import Stage
from retrieval.models import Mining
from tests import factories

pytestmark = pytest.mark.django_db


def counts(build: Build) -> dict[str, int]:
    return {bar.stage.value: bar.count for bar in progress.take_progress_snapshot(build).funnel if bar.count}


def test_funnel_has_every_stage_in_the_order_of_a_cases_life() -> None:
    shot = progress.take_progress_snapshot(factories.launched())
    assert [bar.stage for bar in shot.funnel] == list(Stage)
    assert {bar.width for bar in shot.funnel} == {0.0}


def test_funnel_follows_the_cases() -> None:
    build = factories.opened()
    first, second, third, *_ = factories.cases(build)
    factories.settled(first, 1)
    factories.examined(second, 0)
    factories.abandoned(third)
    assert counts(build) == {"screening": 6, "settled": 2, "abandoned": 1}
    shot = progress.take_progress_snapshot(build)
    assert (shot.finished, shot.tally.matches, shot.tally.programs, shot.tally.ran) == (3, 1, 1, 1)


def test_bars_stand_side_by_side_and_fill_the_stack() -> None:
    build = factories.opened()
    factories.settled(factories.cases(build)[0], 1)
    bars = progress.take_progress_snapshot(build).funnel
    assert [bar.start for bar in bars] == pytest.approx(
        [sum(bar.width for bar in bars[:place]) for place in range(len(bars))]
    )
    assert sum(bar.width for bar in bars) == pytest.approx(1000)


def test_reads_are_few_and_do_not_grow_with_the_build(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    small, large = (
        factories.opened(name, k=k, provider=Build.Provider.LIVE) for name, k in (("small", 1), ("large", 4))
    )
    for build in (small, large):
        for case in factories.cases(build)[1:]:
            factories.abandoned(case)
        with django_assert_num_queries(7):
            progress.take_progress_snapshot(build)


def test_rate_and_time_left_come_from_the_last_minutes() -> None:
    build = factories.opened(provider=Build.Provider.LIVE)
    for case in factories.cases(build)[:6]:
        factories.settled(case, 0)
    now = timezone.now()
    Step.objects.update(at=now - timedelta(seconds=60))
    pace = progress.take_progress_snapshot(build, now).pace
    assert pace.a_minute == pytest.approx(6)
    assert pace.seconds_left == pytest.approx(30)


def test_no_end_is_foretold_where_people_bring_the_replies() -> None:
    build = factories.opened(provider=Build.Provider.EXCHANGE)
    for case in factories.cases(build)[:6]:
        factories.settled(case, 0)
    assert progress.take_progress_snapshot(build).pace == progress.Pace()


def test_rate_is_unknown_while_too_little_was_finished() -> None:
    build = factories.opened()
    factories.settled(factories.cases(build)[0], 0)
    assert progress.take_progress_snapshot(build).pace == progress.Pace()


def test_old_steps_and_those_of_other_builds_make_no_rate() -> None:
    build, other = factories.opened("one"), factories.opened("two")
    for case in factories.cases(other):
        factories.settled(case, 0)
    assert progress.take_progress_snapshot(build).pace == progress.Pace()
    assert (
        progress.take_progress_snapshot(other, timezone.now() + timedelta(minutes=10)).pace == progress.Pace()
    )


def test_paused_build_has_no_rate() -> None:
    build = factories.opened()
    for case in factories.cases(build):
        factories.settled(case, 0)
    Build.objects.update(state=Build.State.PAUSED)
    assert progress.take_progress_snapshot(build).pace == progress.Pace()


def test_reasons_are_counted_and_the_most_frequent_comes_first() -> None:
    build = factories.opened()
    for number, case in enumerate(factories.cases(build)[:5]):
        factories.abandoned(case, "no sandbox" if number < 4 else "no reply")
    assert progress.take_progress_snapshot(build).reasons == (("no sandbox", 4), ("no reply", 1))


def test_reasons_that_differ_in_a_request_alone_are_one() -> None:
    build = factories.opened()
    for number, case in enumerate(factories.cases(build)[:3]):
        factories.abandoned(case, f"no reply to request {number:064x} of the screener")
    assert progress.take_progress_snapshot(build).reasons == (("no reply to request … of the screener", 3),)


def test_failed_calls_are_shown_newest_first() -> None:
    build = factories.opened()
    case = factories.cases(build)[0]
    for error in ("overloaded", "refused"):
        factories.llm_call(case, "screener", {}, status=LLMCall.Status.FAILED, error=error)
    assert [call.error for call in progress.take_progress_snapshot(build).errors] == ["refused", "overloaded"]


def test_requests_that_wait_for_a_file_are_counted_for_exchange_alone() -> None:
    exchange = factories.opened("exchange")
    live = factories.opened("live", provider=Build.Provider.LIVE)
    for build in (exchange, live):
        case = factories.cases(build)[0]
        call = factories.llm_call(case, "screener", {}, status=LLMCall.Status.WAITING)
        case.put_back(waiting=call)
    assert progress.take_progress_snapshot(exchange).waiting_replies == 1
    assert progress.take_progress_snapshot(live).waiting_replies == 0


def test_money_left_is_what_is_neither_spent_nor_reserved() -> None:
    build = factories.opened(cap=100)
    build.tally.change(spent=30, reserved=20)
    assert progress.take_progress_snapshot(build).left == 50
    assert progress.take_progress_snapshot(factories.opened("no cap")).left is None


def test_price_is_looked_up_for_the_model() -> None:
    build = factories.opened()
    assert not progress.take_progress_snapshot(build).has_price
    Price.objects.create(model=build.model, effective_from=timezone.now(), input=1, output=1)
    assert progress.take_progress_snapshot(build).has_price


def versions(build: Build) -> str | None:
    return progress.version_of(Build.objects.all(), build.pk, timezone.now().replace(second=5, microsecond=0))


def test_version_is_the_snapshots_and_stands_still_without_a_change() -> None:
    build = factories.opened()
    now = timezone.now()
    assert (
        progress.version_of(Build.objects.all(), build.pk, now)
        == progress.take_progress_snapshot(build, now).version
    )
    assert versions(build) == versions(build)


def test_version_changes_with_cases_state_and_mining() -> None:
    build = factories.opened()
    seen = {versions(build)}
    factories.settled(factories.cases(build)[0], 1)
    seen.add(versions(build))
    Build.objects.update(state=Build.State.PAUSED)
    seen.add(versions(build))
    Mining.objects.update(done=7)
    seen.add(versions(build))
    assert len(seen) == 4


def test_version_of_a_running_build_moves_with_time_so_that_its_rate_ages() -> None:
    build = factories.opened()
    now = timezone.now()
    later = now + timedelta(seconds=2 * progress.REFRESH)
    of = progress.version_of
    assert of(Build.objects.all(), build.pk, now) != of(Build.objects.all(), build.pk, later)
    Build.objects.update(state=Build.State.DONE)
    assert of(Build.objects.all(), build.pk, now) == of(Build.objects.all(), build.pk, later)


def test_version_of_a_build_out_of_sight_is_none() -> None:
    build = factories.opened()
    assert progress.version_of(Build.objects.none(), build.pk) is None


def test_mining_is_what_one_watches_until_the_cases_are_made() -> None:
    assert progress.take_progress_snapshot(factories.launched()).is_mining
    assert not progress.take_progress_snapshot(factories.opened("second")).is_mining


def test_time_stops_with_the_build() -> None:
    build = factories.opened()
    Build.objects.update(finished_at=build.created_at + timedelta(seconds=90))
    assert progress.take_progress_snapshot(
        build, timezone.now() + timedelta(hours=1)
    ).seconds == pytest.approx(90)


def test_full_sample_of_steps_still_gives_this_builds_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 6 steps read, 3 of them ends of this build over 30 s: 6 a minute, however many came before."""
    monkeypatch.setattr(progress, "SAMPLE", 6)
    build, other = factories.opened("one", provider=Build.Provider.LIVE), factories.opened("two")
    for mine, theirs in zip(factories.cases(build)[:5], factories.cases(other)[:5], strict=True):
        factories.settled(mine, 0)
        factories.settled(theirs, 0)
    now = timezone.now()
    for age, step in zip(range(0, 60, 6), Step.objects.order_by("-pk"), strict=True):
        Step.objects.filter(pk=step.pk).update(at=now - timedelta(seconds=age))
    pace = progress.take_progress_snapshot(build, now).pace
    assert pace.a_minute == pytest.approx(6)
    assert pace.seconds_left == pytest.approx(40)
    assert Tally.objects.get(build=build).open == Case.objects.filter(build=build, label=None).count() == 4
