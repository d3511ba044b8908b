"""A build's pairs become a benchmark: whose label is published, what stays unjudged, what is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from annotation.builds.pipeline.labels import annotator_of_person
from annotation.builds.results import publication
from annotation.builds.results.publication import PublishRefused, Wish
from annotation.derived import round_merge
from annotation.models import Build, BuildEvent, Case, Extension
from retrieval.evaluation.content import content_of
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.filters.queries import QueryRule
from retrieval.metrics.names import parse_measures
from retrieval.models import (
    Annotator,
    Basis,
    Benchmark,
    Candidate,
    Collection,
    Label,
    Mining,
    Pool,
    Score,
    Source,
    label_source_of,
)
from retrieval.models.labels import ADJUDICATED, WRITTEN
from tests import factories
from tests.annotation.models.reviews.test_contradictions import undone

pytestmark = pytest.mark.django_db
ROW = (1, 0, None, 1, 0, 0, 1, 1, 0)
"""What the agents said of three queries with three snippets each."""


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened(), ROW)


def score(benchmark: Benchmark, folder: Path, pool: Pool) -> None:
    path = folder / "mine.run"
    path.write_text("queries-0 Q0 snippets-1 1 1 x\n")
    evaluate_file(path, "mine", content_of(benchmark), pool, parse_measures(["mrr"]))


def review(build: Build, number: int, *values: int | None, name: str = "erin") -> None:
    """A person's reviews of a pair, one after the other."""
    case = factories.cases(build)[number]
    for revision, value in enumerate(values, 1):
        Label.objects.create(
            pair=case.pair,
            annotator=annotator_of_person(factories.person(name)),
            round=revision,
            value=value,
            assisted=True,
        )


def study(build: Build, number: int, value: int, assisted: bool = False, scale: str = "binary") -> None:
    pair = factories.cases(build)[number].pair
    verified = Annotator.objects.version(Annotator.Kind.MERGE, "verified by first", {"study": "first"})
    Label.objects.create(pair=pair, annotator=verified, value=value, assisted=assisted, scale=scale)


def published(build: Build, pool: Pool = Pool.COLLECTION) -> Benchmark:
    return publication.publish_benchmark(Wish("first", build.mining, build, pool), factories.ada())


def values(benchmark: Benchmark, build: Build) -> list[float | None]:
    """What is published of each pair of the build."""
    found = dict(benchmark.labels.values_list("pair", "relevance"))
    return [found.get(case.pair_id) for case in factories.cases(build)]


def test_agents_labels_are_published_and_what_was_abandoned_is_unjudged(build: Build) -> None:
    made = published(build)
    assert values(made, build) == [1, 0, None, 1, 0, 0, 1, 1, 0]
    assert (made.size, made.positives, made.match_counts.tolist()) == (8, 4, [1, 1, 2])
    assert made.pool == Pool.COLLECTION and made.mining == build.mining
    assert "build first" in made.merge_rule and "majority" in made.merge_rule
    assert BuildEvent.objects.get(event="published").note == "as benchmark first@1"


def test_the_history_tells_of_each_version_once_however_often_it_is_published(build: Build) -> None:
    for _ in range(2):
        published(build)
    told = BuildEvent.objects.filter(event="published").order_by("pk")
    assert [row.note for row in told] == ["as benchmark first@1"]
    review(build, 0, 0)
    review(build, 0, 0, name="emil")
    for _ in range(2):
        published(build)
    assert [row.note for row in told.all()] == ["as benchmark first@1", "as benchmark first@2"]
    publication.publish_benchmark(Wish("other", build.mining, build))
    assert told.all()[2].note == "as benchmark other@1"


def test_a_build_is_published_with_how_each_label_came_about(build: Build) -> None:
    """What people say instead is another version, also where it is what the agents said."""
    bases = (Basis.CLEAR, Basis.AGREED, Basis.DISPUTED)
    for case, basis in zip(factories.cases(build), (*bases, *bases, *bases), strict=True):
        case.pair.labels.update(basis=basis)
    made = published(build)
    found = dict(made.labels.values_list("pair", "label__basis"))
    assert list(found.values()) == [
        "clear",
        "agreed",
        "clear",
        "agreed",
        "disputed",
        "clear",
        "agreed",
        "disputed",
    ]
    assert published(build) == made
    for name in ("erin", "emil"):
        review(build, 0, 1, name=name)
    Label.objects.filter(annotator__kind="person").update(basis=Basis.PERSON)
    second = published(build)
    assert (second.version, values(second, build)) == (2, values(made, build))
    assert second.labels.filter(label__basis="person").count() == 1


def test_people_come_before_agents_and_studies_before_people(build: Build) -> None:
    review(build, 0, 0)
    review(build, 1, 1)
    review(build, 1, 1, name="emil")
    review(build, 2, 1)
    review(build, 2, 1, name="emil")
    review(build, 3, 1)
    review(build, 3, 1, name="emil")
    study(build, 3, 0)
    made = published(build)
    assert values(made, build) == [1, 1, 1, 0, 0, 0, 1, 1, 0]
    labels = made.labels.select_related("label__annotator").order_by("pair")
    rows = [row.label for row in labels if row.label]
    sources = [label_source_of(row.annotator.kind, row.annotator.config, row.assisted) for row in rows]
    assert sources == [Source.AGENT, Source.REVIEWS, Source.REVIEWS, Source.STUDY, *[Source.AGENT] * 5]


def test_reviews_that_were_withdrawn_or_replaced_never_count(build: Build) -> None:
    review(build, 0, 0, None)
    review(build, 0, 0, name="emil")
    review(build, 1, 1, 0)
    review(build, 1, 1, name="emil")
    assert values(published(build), build)[:2] == [1, 0]


@pytest.mark.parametrize("scale", ["graded", "whole"])
def test_grades_are_left_out_and_raters_who_saw_agents_tests_are_no_blind_study(
    build: Build, scale: str
) -> None:
    study(build, 0, 0, scale=scale)
    study(build, 1, 1, assisted=True)
    seen = publication.preview_publication(Wish("first", build.mining, build))
    assert {count.source: count.pairs for count in seen.counts} == {Source.REVIEWS: 1, Source.AGENT: 7}


def imported(build: Build, number: int, value: int, **config: str) -> None:
    given = Annotator.objects.version(Annotator.Kind.ORIGINAL, "a file", config)
    Label.objects.create(pair=factories.cases(build)[number].pair, annotator=given, value=value)


def test_an_imported_label_counts_where_nobody_else_says_anything(build: Build) -> None:
    imported(build, 0, 0)
    imported(build, 1, 2, given_by="study")  # whom a file names has no weight here
    imported(build, 2, 3)  # abandoned by the agents; a relevance above 1 is a match
    made = published(build)
    assert values(made, build)[:3] == [1, 0, 1]
    seen = publication.preview_publication(Wish("first", build.mining, build))
    assert {count.source: count.pairs for count in seen.counts} == {Source.AGENT: 8, Source.ORIGINAL: 1}


def test_an_accepted_function_and_an_adjudication_are_told_as_what_they_are(build: Build) -> None:
    cases, expert = factories.cases(build), {"user": 7, "decides": WRITTEN}
    accepting = Annotator.objects.version(Annotator.Kind.PERSON, "user 7", expert)
    verified = Annotator.objects.version(Annotator.Kind.MERGE, "verified by first", {"study": "first"})
    Label.objects.create(pair=cases[1].pair, annotator=accepting, value=1, assisted=True)
    Label.objects.create(pair=cases[2].pair, annotator=accepting, value=1, assisted=True)
    Label.objects.create(pair=cases[2].pair, annotator=accepting, value=None, round=2, assisted=True)
    Label.objects.create(pair=cases[3].pair, annotator=verified, value=0, source=f"study 1{ADJUDICATED}")
    study(build, 4, 1)
    assert values(published(build), build)[:5] == [1, 1, None, 0, 1]
    seen = publication.preview_publication(Wish("first", build.mining, build))
    counts = {count.source: count.pairs for count in seen.counts}
    assert counts == {Source.STUDY: 1, Source.ADJUDICATED: 1, Source.ACCEPTED: 1, Source.AGENT: 5}


def test_the_preview_counts_what_is_published(build: Build) -> None:
    review(build, 1, 1)
    review(build, 1, 1, name="emil")
    seen = publication.preview_publication(Wish("first", build.mining, build))
    assert [(count.source, count.matches, count.no_matches) for count in seen.counts] == [
        (Source.REVIEWS, 1, 0),
        (Source.AGENT, 4, 3),
    ]
    assert (seen.pairs, seen.judged, seen.unjudged) == (9, 8, 1)
    assert seen.out_of_reach == 1  # nothing(), which passes no rule
    assert published(build).size == seen.judged


ANNOTATORS: Final[Sequence[tuple[Annotator.Kind, dict[str, Any]]]] = (
    (Annotator.Kind.PERSON, {"user": 1}),
    (Annotator.Kind.PERSON, {"user": 2}),
    (Annotator.Kind.PERSON, {"user": 3}),
    (Annotator.Kind.PERSON, {"user": 1, "decides": WRITTEN}),
    (Annotator.Kind.MERGE, {"study": "first"}),
    (Annotator.Kind.MERGE, {"study": "second"}),
    (Annotator.Kind.MERGE, {"rule": "majority"}),
    (Annotator.Kind.ORIGINAL, {}),
    (Annotator.Kind.ORIGINAL, {"given_by": "study"}),
    (Annotator.Kind.AGENTS, {"model": "other"}),
)
"""Whoever may have labelled a pair, counted or not; the agents of the build are a number more."""
SAID: Final = st.tuples(
    st.integers(0, 2),  # of three pairs, so that several say something of one
    st.integers(0, len(ANNOTATORS)),
    st.sampled_from([1, 1, 0, 0, None]),
    st.booleans(),
    st.sampled_from(["study 1", "study 1", f"study 1{ADJUDICATED}", f"{ADJUDICATED} or not", ""]),
    st.sampled_from([*[Label.Scale.BINARY] * 4, Label.Scale.HALF, Label.Scale.GRADED]),
)


def say(build: Build, place: int, who: int, value: int | None, assisted: bool, told: str, scale: str) -> None:
    """The next label of an annotator; a pair's first annotator is the build's own."""
    pair = factories.cases(build)[place].pair
    known = [Annotator.objects.version(kind, "who", config) for kind, config in ANNOTATORS]
    annotator = [*known, build.annotator][who]
    said_before = pair.labels.filter(annotator=annotator).count()
    Label.objects.create(
        pair=pair,
        annotator=annotator,
        round=said_before + 1,
        value=value,
        assisted=assisted,
        source=told,
        scale=scale,
    )


def counted_one_by_one(build: Build) -> Counter[tuple[Source, int]]:
    """Labels by source, of what is published of each pair."""
    chosen = list(publication.said_of(build))
    labels = Label.objects.select_related("annotator").in_bulk([row.label for row in chosen])
    found = Counter[tuple[Source, int]]()
    for row in chosen:
        by = labels[row.label].annotator
        told = label_source_of(by.kind, by.config, labels[row.label].assisted, labels[row.label].source)
        source = Source.ORIGINAL if by.kind == Annotator.Kind.ORIGINAL else told
        found[source, int(row.relevance)] += 1
    return found


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    agents=st.lists(st.sampled_from([1, 0, None]), min_size=3, max_size=3),
    said=st.lists(SAID, max_size=12),
    rounds=st.sampled_from([1, 1, 1, 2]),
)
def test_whatever_was_said_the_counts_are_those_of_what_is_published(
    agents: list[int | None], said: list[tuple[int, int, int | None, bool, str, str]], rounds: int
) -> None:
    with undone():
        build = factories.said(factories.opened(k=1, rounds=rounds), *[agents] * rounds)
        if rounds > 1:
            round_merge.request_round_merge(build, round_merge.Rule.MAJORITY)
            round_merge.advance_waiting_merges()
        for one in said:
            say(build, *one)
        seen = publication.preview_publication(Wish("first", build.mining, build))
        found = {(count.source, 1): count.matches for count in seen.counts}
        found |= {(count.source, 0): count.no_matches for count in seen.counts}
        assert +Counter(found) == counted_one_by_one(build)
        assert seen.pairs == build.cases.values("pair").distinct().count()
        assert publication.preview_publication(Wish("first", build.mining)) == seen, (
            "the mining has no other build"
        )


def test_the_database_counts(build: Build, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    """However many pairs there are, none is read; two queries are for functions out of reach, two for what
    was written.
    """
    with django_assert_max_num_queries(7):
        assert publication.preview_publication(Wish("first", build.mining, build)).judged == 8


def test_a_mining_that_no_build_judged_has_imported_labels_alone(build: Build) -> None:
    mining = factories.mining(k=1)
    query, snippet = mining.queries.members.first(), mining.snippets.members.first()
    assert query and snippet
    pair = factories.candidate(mining, query.text, snippet.text, 1).pair
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "a file", {})
    Label.objects.create(pair=pair, annotator=by, value=0)
    seen = publication.preview_publication(Wish("bare", mining))
    assert [(count.source, count.no_matches) for count in seen.counts] == [(Source.ORIGINAL, 1)]
    assert (seen.pairs, seen.unjudged) == (1, 0)


def test_what_a_build_abandoned_is_unjudged_though_another_one_judged_it(build: Build) -> None:
    other = factories.said(factories.opened("second"), (0, 0, 1, 1, 0, 0, 1, 1, 0))
    assert other.annotator == build.annotator
    assert values(published(build), build)[2] is None


def test_rounds_are_merged_first() -> None:
    build = factories.said(factories.opened(rounds=2), ROW, ROW)
    with pytest.raises(PublishRefused, match="merge its rounds first"):
        published(build)
    round_merge.request_round_merge(build, round_merge.Rule.UNANIMOUS)
    round_merge.advance_waiting_merges()
    made = published(build)
    assert made.size == 8
    assert {row.label.annotator.kind for row in made.labels.all() if row.label} == {Annotator.Kind.MERGE}


def test_a_build_that_is_not_over_is_refused() -> None:
    with pytest.raises(PublishRefused, match="is running: it is published once it is over"):
        published(factories.opened())


def test_a_build_without_a_label_is_refused() -> None:
    with pytest.raises(PublishRefused, match="nothing to publish"):
        published(factories.said(factories.opened(), [None] * 9))
    assert not Benchmark.objects.exists()


def test_candidates_can_be_what_is_searched(build: Build) -> None:
    first, second = published(build), published(build, Pool.CANDIDATES)
    assert (second.pool, second.mining, second.version) == ("candidates", build.mining, 2)
    assert first.digest != second.digest
    assert published(build, Pool.CANDIDATES) == second


def test_runs_of_the_version_before_are_scored_by_the_new_labels(build: Build, tmp_path: Path) -> None:
    """A system that finds the third pair alone, which the agents call no match and a person then a match."""
    first = published(build)
    score(first, tmp_path, Pool.COLLECTION)
    before = Score.objects.get(run__benchmark=first)
    review(build, 1, 1)
    review(build, 1, 1, name="eve")
    second = published(build)
    assert second.version == 2 and second.digest != first.digest
    [run], after = second.runs.all(), Score.objects.get(run__benchmark=second)
    assert (run.system, after.metric) == ("mine", before.metric) and after.digest != before.digest
    assert published(build) == second and second.runs.count() == 1, "the same again keeps each once"


def test_a_run_over_candidates_is_not_scored_for_another_mining(build: Build, tmp_path: Path) -> None:
    first = published(build, Pool.CANDIDATES)
    score(first, tmp_path, Pool.CANDIDATES)
    other = factories.said(factories.opened("other", k=2), ROW[:6])
    made = publication.publish_benchmark(Wish("first", other.mining, other, Pool.CANDIDATES))
    assert made.version == 2 and not made.runs.exists()


def test_an_extended_build_has_no_one_pool_of_candidates(build: Build) -> None:
    Extension.objects.create(
        build=build, number=1, mining=factories.mining(), state=Extension.State.OPENED, description="more"
    )
    with pytest.raises(PublishRefused, match="several minings"):
        published(build, Pool.CANDIDATES)
    made = published(build)
    assert made.size == 8
    assert made.minings == [build.mining, *made.extension_minings.all()] and len(made.minings) == 2


def test_only_queries_and_snippets_that_were_mined_are_in_it(build: Build) -> None:
    Mining.objects.filter(pk=build.own_mining.pk).update(limit=2, until=3)
    build.own_mining.refresh_from_db()
    made = published(build)
    assert (made.queries_until, made.snippets_until, made.size) == (2, 3, 5)
    told = BuildEvent.objects.get(event="published").note
    assert (
        told == "as benchmark first@1; 3 labels of queries or functions that are no part of it were left out"
    )


def test_chosen_queries_make_a_collection_of_their_own_once(build: Build) -> None:
    Mining.objects.filter(pk=build.own_mining.pk).update(chosen=[0, 2])
    build.own_mining.refresh_from_db()
    made = published(build)
    members = list(made.queries.members.order_by("position").select_related("text"))
    assert [member.text.head for member in members] == [factories.QUERIES[0], factories.QUERIES[2]]
    assert (made.queries_until, made.size, made.match_counts.tolist()) == (2, 5, [1, 2])
    assert published(build) == made


@pytest.mark.parametrize("limit", [None, 2])
def test_queries_that_a_rule_chose_are_the_members_and_no_label_is_lost(
    build: Build, limit: int | None
) -> None:
    Case.objects.filter(build=build, query__head=factories.QUERIES[0]).delete()
    Candidate.objects.filter(mining=build.mining, query__head=factories.QUERIES[0]).delete()
    Mining.objects.filter(pk=build.own_mining.pk).update(limit=limit, query_rule=int(QueryRule.ENGLISH))
    build.own_mining.refresh_from_db()
    made = published(build)
    members = made.queries.members.order_by("position").values_list("text__head", flat=True)
    assert list(members) == list(factories.QUERIES[1:])
    assert (made.queries_until, made.size, made.match_counts.tolist()) == (2, 6, [1, 2])


@pytest.mark.parametrize("limit", [None, 4])
def test_queries_that_were_added_after_the_mining_are_no_part_of_it(build: Build, limit: int | None) -> None:
    Mining.objects.filter(pk=build.own_mining.pk).update(limit=limit)
    build.own_mining.refresh_from_db()
    first = published(build)
    text = factories.queries(("sum a list",), name="more").members.get().text
    build.queries.members.create(text=text, position=3)
    Collection.objects.filter(pk=build.queries_id).update(size=4)
    again = publication.publish_benchmark(
        Wish("first", Mining.objects.get(pk=build.own_mining.pk), Build.objects.get())
    )
    assert (first.queries_until, again) == (3, first)


def test_a_mining_is_published_by_the_agents_of_its_builds(build: Build) -> None:
    assert publication.publish_benchmark(Wish("whole", build.mining)).size == 8
    other = factories.annotator(model="other")
    factories.launched("second", mining=build.mining, annotator=other, state=Build.State.DONE)
    with pytest.raises(PublishRefused, match=f"'first' \\(--build {build.pk}\\)"):
        publication.publish_benchmark(Wish("whole", build.mining))


def test_the_command(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("benchmark", "publish", "first", "--build", "first", "--dry-run")
    told = capsys.readouterr().out
    assert "8 pairs from agents: 4 match, 4 do not" in told
    assert "1 of 9 pairs are unjudged; that is never a 0" in told and "Nothing was published" in told
    call_command("benchmark", "publish", "first", "--mining", str(build.mining_id), "--json")
    assert json.loads(capsys.readouterr().out) == {
        "benchmark": "first@1",
        "pairs": 9,
        "unjudged": 1,
        "out_of_reach": 1,
        "labels": {"agent": {"matches": 4, "no_matches": 4}},
    }
    for arguments, message in (
        (["--build", "none"], "no build called 'none'; there are: first"),
        (["--mining", "99"], "no mining 99"),
    ):
        with pytest.raises(CommandError, match=message):
            call_command("benchmark", "publish", "first", *arguments)
