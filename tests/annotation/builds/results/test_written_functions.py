"""Accepted functions are published with their build: as snippets, as labels, and in a release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.builds.pipeline.advance import Tools
from annotation.builds.results import publication
from annotation.builds.results.publication import PublishRefused, Wish
from annotation.derived.missing_functions import function_decisions
from annotation.derived.missing_functions.function_decisions import ProposalChoice
from annotation.models import Filling
from retrieval.evaluation.content import snippet_members
from retrieval.exporting.export_run import Options, export_benchmark
from retrieval.models import Alias, Benchmark, Member, Pool, Source
from tests import factories, filling
from tests.annotation.builds.pipeline.test_advance import Make

pytestmark = pytest.mark.django_db
EDITED = "def flat(rows):\n    return [cell for row in list(rows) for cell in row]"


@pytest.fixture
def job(tools_with: Make) -> Filling:
    """Functions for two queries of three, all checked; the first has a match."""
    made = filling.job(filling.source(matched=1))
    tools: Tools = tools_with(filling.writer())[0]
    filling.work(tools)
    return made


def accept(job: Filling, word: str, action: str = "accept", seen: int = 0, **fields: str) -> None:
    choice = ProposalChoice(action, **fields)
    function_decisions.decide_proposal(factories.erin(), filling.proposal(job, word), choice, seen)


def published(job: Filling, pool: Pool = Pool.COLLECTION) -> Benchmark:
    return publication.publish_benchmark(Wish("first", job.of.mining, job.of, pool))


def test_a_benchmark_grows_by_what_was_accepted_and_by_nothing_else(job: Filling) -> None:
    before = published(job)
    assert published(job) == before, "what waits for an expert is no part of it"
    accept(job, "flatten", "edit", code=EDITED, reason="any iterable")
    accept(job, "parse", "reject", reason="not asked")
    after = published(job)
    assert (after.version, after.size) == (2, before.size + 1)
    assert (after.positives, after.snippet_count) == (before.positives + 1, before.snippet_count + 1)
    assert (
        sum(count > 0 for count in after.match_counts) == sum(count > 0 for count in before.match_counts) + 1
    )
    assert (
        after.notes == "1 function was written by agents for queries without a match and accepted by experts."
    )
    assert published(job) == after and after.snippets.size == after.snippet_count
    last = snippet_members(after).order_by("-position")[0]
    assert (last.text.text, last.source_id[:8]) == (EDITED, "written-")
    assert last.origin.startswith("written by small-model for a query without a match")
    assert "erin" not in last.origin


def test_what_the_build_searched_stays_at_its_places_with_its_further_ids(job: Filling) -> None:
    own = job.of.snippets
    Alias.objects.create(collection=own, number=1, text=own.members.all()[1].text, source_id="twin")
    accept(job, "parse")
    made = published(job)
    columns = "position", "text", "source_id", "origin", "rules"
    kept = made.snippets.members.filter(position__lt=own.size)
    assert list(kept.values_list(*columns)) == list(own.members.values_list(*columns))
    assert made.snippets.aliases.get().source_id == "twin"
    assert Member.objects.filter(collection=own).count() == own.size, "the build's own are as they were"


def test_a_decision_that_is_taken_back_takes_the_function_out_of_the_next_version(job: Filling) -> None:
    before = published(job)
    accept(job, "parse")
    assert published(job).version == 2
    function_decisions.undo_proposal_decision(factories.erin(), filling.proposal(job, "parse"), 1)
    third = published(job)
    assert (third.version, third.digest, third.snippets) == (3, before.digest, before.snippets)


def test_what_will_be_published_counts_it_by_its_source(job: Filling) -> None:
    wish = Wish("first", job.of.mining, job.of)
    before = publication.preview_publication(wish)
    accept(job, "parse")
    after = publication.preview_publication(wish)
    [written] = [count for count in after.counts if count.source is Source.ACCEPTED]
    assert (written.matches, written.no_matches, after.pairs) == (1, 0, before.pairs + 1)
    whole = publication.preview_publication(Wish("first", job.of.mining))
    assert whole == after, "all builds of the mining: here one"


def test_a_search_in_candidates_alone_is_refused_as_no_mining_proposed_them(job: Filling) -> None:
    accept(job, "parse")
    with pytest.raises(PublishRefused, match="no mining proposed them"):
        published(job, Pool.CANDIDATES)


def test_a_job_that_writes_is_not_published_and_says_what_is(job: Filling) -> None:
    with pytest.raises(PublishRefused, match="writes functions for the build 'source': publish that build"):
        publication.publish_benchmark(Wish("first", job.build.mining, job.build))
    with pytest.raises((CommandError, PublishRefused), match="'written' is a job that writes functions"):
        call_command("benchmark", "publish", "first", "--build", "written")


def test_a_release_has_the_function_its_label_and_where_they_came_from(job: Filling, tmp_path: Path) -> None:
    accept(job, "parse")
    made = published(job)
    export_benchmark(made, "huggingface", tmp_path / "out", Options())
    folder = tmp_path / "out"
    written = f"written-{filling.proposal(job, 'parse').pk}"
    members = [
        json.loads(line)
        for path in folder.rglob("*codebase*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert [one["source_id"] for one in members if one["origin"].startswith("written by")] == [written]
    labels = [json.loads(line) for line in (folder / "provenance/labels.jsonl").read_text().splitlines()]
    assert [label["relevance"] for label in labels if label["source"] == "accepted"] == [1]
    card = (folder / "README.md").read_text()
    assert "| of these written for a query without a match | 1 |" in card
    assert "1 function was written by agents" in card
