"""Code similarity as a judge: its labels, what it can't judge, its benchmark, and how others see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.builds.results.annotator_comparison import compare_two_annotators, side_of
from annotation.derived.similarity.job import SimilarityOrder, perform_similarity_job
from annotation.derived.similarity.judge import (
    NotComparable,
    SimilarityChoice,
    SimilarityVerdict,
    Unjudged,
    judge_similarity,
    list_pairs,
)
from annotation.derived.similarity.publication import publish_similarity_benchmark, refuse_benchmark
from annotation.models import Build
from annotation.quality.answers import BenchPair
from annotation.quality.inputs.answer_sources import read_annotator_labels
from annotation.quality.inputs.pair_lookup import PlacedPair
from annotation.studies.plan.row_names import JUDGES, format_annotator_name
from retrieval.evaluation.content import content_of
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.system_run import evaluate_system
from retrieval.evaluation.systems.search import Search, find_system
from retrieval.metrics.names import parse_measures
from retrieval.models import (
    Annotator,
    Benchmark,
    Job,
    Label,
    Pair,
    Pool,
    Run,
    Source,
    label_source_of,
)
from tests import factories

READ = "def read(path):\n    with open(path) as file:\n        return file.readlines()\n"
READ_TOO = (
    "def lines(name):\n    with open(name) as stream:\n        rows = stream.readlines()\n    return rows\n"
)
ADD = "def add(left, right):\n    return left + right\n"
BROKEN = "public static int[] sort(int[] a) { for (int i = 0; i < n; i++) { swap(a, i); } return a; }"
JAVA = "int add(int a, int b) { return a + b; }"


@pytest.fixture
def base(db: None) -> Benchmark:
    """Of the query `read lines` the first two functions are matches; the file of JAVA tells its language."""
    snippets = factories.snippets((READ, READ_TOO, ADD, BROKEN, JAVA))
    snippets.members.filter(position=4).update(source_id="A.java::add")
    queries = factories.queries(("read lines", "add numbers"))
    asked = [member.text for member in queries.members.order_by("position")]
    code = [member.text for member in snippets.members.order_by("position")]
    agents = factories.annotator()
    for query, place, value in ((0, 0, 1), (0, 1, 1), (0, 2, 0), (0, 3, 0), (0, 4, 0), (1, 2, 1)):
        pair = Pair.objects.keep_all([(asked[query].pk, code[place].pk)])[0]
        Label.objects.create(pair=pair, annotator=agents, value=value)
    return publish_benchmark(Order("lines", queries, snippets, "by hand"), Label.objects.all())


def test_similar_code_is_a_match_and_what_can_not_be_compared_is_not_judged(base: Benchmark) -> None:
    judged = judge_similarity(base, SimilarityChoice())
    assert dict(judged.labels) == {1: 2, 0: 1}
    assert dict(judged.unjudged) == {Unjudged.CODE: 1, Unjudged.LANGUAGE: 1, Unjudged.NO_ANSWER: 1}
    rows = Label.objects.filter(annotator=judged.annotator).select_related("pair__snippet")
    said = {row.pair.snippet.text: row for row in rows if row.pair.query.text == "read lines"}
    values = [said[code.strip()].value for code in (READ, READ_TOO, ADD, BROKEN, JAVA)]
    assert values == [1, 1, 0, None, None]
    assert said[BROKEN].source == "could not judge: the function can not be read"
    assert said[READ.strip()].source.startswith("similarity 0.")
    assert judged.pairs == rows.count() == 6


def test_judging_twice_stores_each_label_once_and_other_answers_are_another_annotator(
    base: Benchmark,
) -> None:
    first, again = judge_similarity(base, SimilarityChoice()), judge_similarity(base, SimilarityChoice())
    assert first.annotator == again.annotator and Label.objects.filter(annotator=first.annotator).count() == 6
    assert judge_similarity(base, SimilarityChoice(threshold=0.9)).annotator != first.annotator
    answers = factories.collection("snippets", (ADD,), "answers")
    base.queries.members.filter(position=0).update(source_id="q-1")
    answers.members.update(source_id="q-1")
    other = judge_similarity(base, SimilarityChoice(answers=answers))
    assert other.annotator not in (first.annotator, again.annotator)
    assert other.unjudged[Unjudged.NO_ANSWER] == 2, "ADD itself, and the query without an answer"
    assert other.labels[1] == 0


def test_a_benchmark_without_answers_is_refused(base: Benchmark) -> None:
    nothing = factories.collection("snippets", (ADD,), "unrelated")
    with pytest.raises(NotComparable, match="No query of lines@1 has an answer"):
        judge_similarity(base, SimilarityChoice(answers=nothing))


def test_the_threshold_itself_is_a_match() -> None:
    assert SimilarityVerdict(0.25).label(0.25) == 1 and SimilarityVerdict(0.2499).label(0.25) == 0
    assert SimilarityVerdict(unjudged=Unjudged.CODE).label(0.25) is None


def test_the_first_results_of_runs_are_judged_too(base: Benchmark, tmp_path: Path) -> None:
    content, how = content_of(base), Search("whole", None, tmp_path)
    evaluate_system(find_system("bm25"), content, Pool.COLLECTION, how, parse_measures(["mrr"]))
    labelled = set(list_pairs(base, content, 0))
    assert len(labelled) == 6
    assert len(list_pairs(base, content, 1)) >= 6 and set(list_pairs(base, content, 10)) > labelled


def test_its_benchmark_has_its_labels_alone_and_the_same_runs(base: Benchmark, tmp_path: Path) -> None:
    content, how = content_of(base), Search("whole", None, tmp_path)
    evaluate_system(find_system("bm25"), content, Pool.COLLECTION, how, parse_measures(["mrr"]))
    choice = SimilarityChoice(depth=0)
    judged = judge_similarity(base, choice)
    made = publish_similarity_benchmark(base, choice, judged)
    assert (made.name, made.size, made.positives) == ("lines-similarity", 3, 2)
    assert "Not judged: " in made.notes and "no person, no model" in made.merge_rule
    assert [run.system for run in Run.objects.filter(benchmark=made)] == ["bm25"]
    assert publish_similarity_benchmark(base, choice, judged) == made, "nothing is new"
    with pytest.raises(NotComparable, match="has the labels of code similarity"):
        refuse_benchmark(made)


def test_it_stands_beside_agents_and_people_and_is_no_expert(base: Benchmark) -> None:
    judged = judge_similarity(base, SimilarityChoice())
    agents = Annotator.objects.get(kind=Annotator.Kind.AGENTS)
    found = compare_two_annotators(side_of(agents), side_of(judged.annotator), Build.objects.none())
    # Both judged READ 1 and 1, READ_TOO 1 and 1, ADD 0 and 0; empty labels are shared with nobody.
    assert (found.cells[1, 1], found.cells[0, 0], found.cells[1, 0], found.cells[0, 1]) == (2, 1, 0, 0)
    assert judged.annotator.kind in JUDGES and format_annotator_name(judged.annotator).startswith("Aroma")
    assert label_source_of(judged.annotator.kind, judged.annotator.config, False) is Source.SIMILARITY


def test_label_quality_counts_what_it_could_not_judge_as_unjudged(base: Benchmark) -> None:
    judged = judge_similarity(base, SimilarityChoice())
    pairs = Pair.objects.filter(labels__annotator=judged.annotator).order_by("pk")
    places = [PlacedPair(BenchPair(str(pair.pk), "q"), "", "", pair.pk) for pair in pairs]
    said = read_annotator_labels(judged.annotator, 0, places, "Aroma").answers
    assert sorted(str(answer.label) for answer in said.values()) == ["0", "1", "1", "None", "None", "None"]
    assert {answer.cause for answer in said.values() if answer.label is None} >= {
        "could not judge: the function can not be read"
    }


def test_a_job_judges_publishes_and_says_what_was_not_judged(base: Benchmark) -> None:
    job = factories.job(SimilarityOrder(), base.pk, state="running")
    perform_similarity_job(job)
    assert (job.state, job.result["matches"], job.result["no_matches"]) == (Job.State.DONE, 2, 1)
    assert job.result["unjudged"]["the function can not be read"] == 1
    again = factories.job(SimilarityOrder(), job.result["benchmark"], state="running")
    perform_similarity_job(again)
    assert again.state == Job.State.FAILED and "name the one" in again.message


def test_the_command_prints_the_same(base: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("similarity", "lines", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["benchmark"], told["matches"]) == ("lines-similarity@1", 2)
    for wrong in (["--threshold", "0"], ["--depth", "101"], ["--answers", "nowhere"]):
        with pytest.raises(CommandError):
            call_command("similarity", "lines", *wrong)


def test_admins_order_it_on_a_page_and_others_do_not(ada: Client, erin: Client, base: Benchmark) -> None:
    where = reverse("benchmark-similarity", args=[base.pk])
    assert "lines-similarity" in ada.get(where).content.decode()
    sent = {"answers": "", "language": "python", "threshold": "0.25", "depth": "10"}
    assert ada.post(where, {**sent, "threshold": "2"}).status_code == 422
    assert ada.post(where, sent, follow=True).status_code == 200
    job = Job.objects.get()
    assert job.order == {"language": "python", "threshold": 0.25, "depth": 10, "answers": 0}
    perform_similarity_job(job)
    assert "the function can not be read: 1" in ada.get(where).content.decode()
    assert where in ada.get(reverse("benchmark", args=[base.pk])).content.decode()
    assert erin.get(where).status_code == erin.post(where, sent).status_code == 403
