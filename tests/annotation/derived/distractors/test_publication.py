"""A benchmark with distractors is one of its own: labels, provenance, exports and ranks of its bugs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.derived.distractors.job import DistractorOrder, perform_distractor_job
from annotation.derived.distractors.proof import BugChoice, Proofs, prove_bugs
from annotation.derived.distractors.publication import NoDistractors, publish_with_distractors
from annotation.management.commands import distractors as command
from retrieval.evaluation.bug_ranks import rank_bugs
from retrieval.evaluation.content import content_of
from retrieval.evaluation.runs.system_run import evaluate_system
from retrieval.evaluation.systems.search import Search, find_system
from retrieval.exporting.export_run import Options, export_benchmark
from retrieval.exporting.withholding_policy import Withhold
from retrieval.metrics.names import parse_measures
from retrieval.models import Benchmark, Collection, Distractor, Job, Label, Member, Pool, RankedList, Run
from sandbox.program import Limits
from tests import factories
from tests.annotation.derived.distractors.conftest import COUNT, PROGRAM, provide


def proofs_of(benchmark: Benchmark) -> Proofs:
    return prove_bugs(benchmark, BugChoice(), provide(), Limits(), lambda done, total: None)


def read_provenance(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "provenance" / "distractors.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def made(tested: Benchmark) -> Benchmark:
    return publish_with_distractors(tested, proofs_of(tested))


def test_the_bugs_are_non_matches_of_a_benchmark_of_its_own(tested: Benchmark, made: Benchmark) -> None:
    assert (made.name, made.version, made.size, made.positives) == ("counting-distractors", 1, 5, 2)
    assert (made.snippet_count, tested.snippet_count) == (tested.snippet_count + 2, 4)
    assert Benchmark.objects.newest("counting") == tested and tested.snippets.size == 4
    bugs = list(Distractor.objects.filter(benchmark=made))
    assert [(bug.kind, bug.line, bug.parent.text) for bug in bugs] == [
        ("off by one", 4, COUNT.strip()),
        ("wrong comparison", 4, COUNT.strip()),
    ]
    for bug in bugs:
        said = made.labels.get(pair=bug.pair)
        assert (said.relevance, said.label and said.label.annotator.name) == (0, "planted bugs")
        assert bug.source == PROGRAM and bug.before in COUNT and bug.after in bug.pair.snippet.text
        member = Member.objects.get(collection=made.snippets, text=bug.pair.snippet)
        assert (member.licence, member.origin) == ("MIT", "tests") and "#bug-" in member.source_id
    assert "2 distractors for 1 query" in made.notes and "bugs that the test did not notice: 1" in made.notes


def test_the_order_of_the_functions_favours_neither_match_nor_bug(made: Benchmark) -> None:
    """A system that sees no difference lists the first of two: hashes decide which one that is."""
    digests = made.snippets.members.order_by("position").values_list("text__body", flat=True)
    assert list(digests) == sorted(digests) and made.snippets.size == len(digests) == 6
    for bug in made.distractors.all():
        members = [made.snippets.members.get(text=text) for text in (bug.parent, bug.pair.snippet)]
        by_id = members[1].source_id > members[0].source_id
        assert by_id == (bug.pair.snippet.digest > bug.parent.digest), "equal scores may go by document id"


def test_the_same_bugs_are_published_once(tested: Benchmark, made: Benchmark) -> None:
    assert publish_with_distractors(tested, proofs_of(tested)) == made
    assert Collection.objects.filter(name="counting-distractors").count() == 1
    assert Distractor.objects.count() == 2 == Label.objects.filter(annotator__name="planted bugs").count()


def test_what_can_not_have_distractors_is_refused(tested: Benchmark, made: Benchmark) -> None:
    with pytest.raises(NoDistractors, match="has distractors already"):
        publish_with_distractors(made, proofs_of(tested))
    with pytest.raises(NoDistractors, match="No bug is proven: nothing was tested"):
        publish_with_distractors(tested, Proofs())


def test_a_bug_that_is_a_function_of_the_benchmark_is_left_out(tested: Benchmark) -> None:
    proofs = proofs_of(tested)
    place = tested.snippets.members.get(position=3)
    place.text = type(place.text).objects.keep(proofs.bugs[0].mutant.text)
    place.save()
    assert publish_with_distractors(tested, proofs).distractors.count() == 1


@pytest.mark.parametrize(
    ("places", "share", "known", "unknown"),
    [
        ([0, 4, 5], 1.0, 2, 0),
        ([4, 0, 5], 0.5, 2, 0),
        ([0], 1.0, 2, 0),
        ([4, 1, 5], 0.0, 2, 0),
        ([4, 1], 0.0, 1, 1),
        ([1, 2], None, 0, 2),
        ([], None, 0, 2),
    ],
)
def test_systems_are_measured_by_whether_the_match_is_above(
    made: Benchmark, places: list[int], share: float | None, known: int, unknown: int
) -> None:
    """0 is the match, 4 and 5 are its bugs, the others any. Of a pair that is not listed nothing is known."""
    bugs = list(made.distractors.all())
    texts = [bugs[0].parent_id, bugs[0].pair.snippet_id, bugs[1].pair.snippet_id]
    of = dict(zip((0, 4, 5), (made.snippets.members.get(text=text).position for text in texts), strict=True))
    others = iter(sorted(set(range(6)) - set(of.values())))
    of |= {number: next(others) for number in (1, 2)}
    run = Run.objects.create(
        benchmark=made, system="mine", pool=Pool.COLLECTION, digest="0" * 64, code_version="tests"
    )
    query, data = (
        made.distractors.all()[0].pair.query_id,
        np.array([of[place] for place in places], "<u4").tobytes(),
    )
    RankedList.objects.create(run=run, query_id=query, data=data)
    (found,) = rank_bugs(made, [run])
    assert (found.share, found.distractors, found.unlisted) == (share, known, unknown)
    assert (found.queries, found.interval) == (int(share is not None), None), "of one query there is none"
    assert rank_bugs(made, [run]) == [found], "kept"


def test_a_benchmark_without_distractors_has_no_such_figure(tested: Benchmark) -> None:
    assert rank_bugs(tested, []) == []


@pytest.mark.parametrize("name", ["release", "parquet", "huggingface"])
def test_exports_say_how_each_bug_was_made_and_proven(made: Benchmark, tmp_path: Path, name: str) -> None:
    if name != "release":
        pytest.importorskip("pyarrow")
    folder = tmp_path / "out"
    export_benchmark(made, name, folder, Options())
    rows = read_provenance(folder)
    assert [(row["kind"], row["line"]) for row in rows] == [("off by one", 4), ("wrong comparison", 4)]
    assert rows[0]["program-text"] == PROGRAM and rows[0]["before"] in COUNT
    if name == "parquet":
        import pyarrow.parquet as parquet

        table = parquet.read_table(folder / "distractors.parquet").to_pylist()
        assert [row["kind"] for row in table] == ["off by one", "wrong comparison"]
        assert table[0]["parent_code_idx"] == rows[0]["parent-code-idx"]
    if name == "huggingface":
        card = (folder / "README.md").read_text()
        assert "| distractors: off by one | 1 |" in card and "2 distractors" in card


def test_code_that_is_withheld_is_told_nowhere(made: Benchmark, tmp_path: Path) -> None:
    made.snippets.members.update(licence="Proprietary")
    folder = tmp_path / "out"
    export_benchmark(made, "release", folder, Options(withhold=Withhold.UNKNOWN))
    rows = read_provenance(folder)
    assert rows and all(row["before"] is row["after"] is row["program-text"] is None for row in rows)


def test_a_job_proves_and_publishes_and_says_what_was_left_out(tested: Benchmark) -> None:
    job = factories.job(DistractorOrder(seed=1, most=5), tested.pk, state="running")
    perform_distractor_job(job, provide(), Limits())
    made = Benchmark.objects.newest("counting-distractors")
    assert made is not None and (job.state, job.result["benchmark"]) == (Job.State.DONE, made.pk)
    assert job.result["distractors"] == 2
    assert job.result["left_out"] == {
        "matches without a test that passed": 1,
        "bugs that the test did not notice": 1,
    }
    again = factories.job(DistractorOrder(), made.pk, state="running")
    perform_distractor_job(again, provide(), Limits())
    assert again.state == Job.State.FAILED and "has distractors already" in again.message


def test_the_command_publishes_and_counts(
    tested: Benchmark, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from contextlib import nullcontext

    monkeypatch.setattr(command, "use_configured_sandbox", lambda: nullcontext(provide()))
    call_command("distractors", "counting", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["benchmark"], told["distractors"]) == ("counting-distractors@1", 2)
    with pytest.raises(CommandError, match="has distractors already"):
        call_command("distractors", "counting-distractors")
    with pytest.raises(CommandError, match="no benchmark"):
        call_command("distractors", "nowhere")


def test_pages_order_them_and_show_bugs_and_ranks(
    ada: Client, erin: Client, tested: Benchmark, made: Benchmark, tmp_path: Path
) -> None:
    where = reverse("benchmark-distractors", args=[tested.pk])
    assert "Make distractors" in ada.get(where).content.decode()
    assert ada.post(where, {"most": "9", "seed": "1"}).status_code == 422
    sent = ada.post(where, {"most": "2", "seed": "7"}, follow=True)
    assert sent.status_code == 200 and Job.objects.get().order == {"seed": 7, "most": 2}
    shown = ada.get(reverse("benchmark-distractors", args=[made.pk])).content.decode()
    assert "wrong comparison" in shown and "Make distractors" not in shown
    content, how = content_of(made), Search("whole", None, tmp_path)
    evaluate_system(find_system("bm25"), content, Pool.COLLECTION, how, parse_measures(["mrr"]))
    board = erin.get(reverse("benchmark", args=[made.pk])).content.decode()
    assert "Match above its distractor" in board and where not in board
    assert (
        "Match above its distractor" not in erin.get(reverse("benchmark", args=[tested.pk])).content.decode()
    )
    assert erin.get(where).status_code == erin.post(where).status_code == 403
