"""`manage.py leaderboard`: who stands where, for people and machines, and what it refuses."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import chdir
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.management.commands import leaderboard as leaderboards
from annotation.models import Study
from annotation.stats.agreement.error_share import Wrong, WrongLabels
from annotation.stats.agreement.figures import Figure
from annotation.stats.agreement.scores import Confusion, Scores
from annotation.web.benchmarks import leaderboard_notes
from annotation.web.benchmarks.page import build_leaderboard_cell
from retrieval import mining
from retrieval.evaluation.leaderboard import SystemStanding, titles_of
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.query_scores import Figure as Mean
from retrieval.evaluation.robustness import label_noise
from retrieval.evaluation.robustness.label_noise import ErrorRates
from retrieval.models import Annotator, Benchmark, Label, Run
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(tmp_path: Path, settings: Any) -> Benchmark:
    """A benchmark of a mining by two encoders, with two systems."""
    settings.COSQA_HOME = tmp_path
    found = factories.mining(factories.queries(), factories.snippets(), encoders=["bm25", "bow"], k=2)
    mining.perform_mining(found, tmp_path / "vectors")
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for candidate in found.candidates.all():
        Label.objects.create(pair=candidate.pair, annotator=by, value=candidate.rank % 2)
    done = publish_benchmark(Order("small", found.queries, found.snippets, "", found), Label.objects.all())
    call_command(
        "evaluate", "small", "--encoder", "bm25", "bow", "--metrics", "mrr,ndcg_all", stdout=StringIO()
    )
    return done


def said(*words: str) -> str:
    out = StringIO()
    call_command("leaderboard", *words, stdout=out)
    return out.getvalue()


def test_people_read_who_stands_where(made: Benchmark) -> None:
    text = said("small", "--leave-one-out")
    assert text.startswith("small@1, candidates: mrr over")
    assert "helped to mine; without bm25 rank" in text
    assert "after Holm, stays above in" in text
    assert "flip 6.1% of the matches" in text
    assert "With fewer than 30 queries intervals are too short." in text


def test_machines_get_every_digit(made: Benchmark) -> None:
    found = json.loads(said("small@1", "--json", "--errors", "0.1,0.2", "--leave-one-out", "--matches", "1-"))
    assert set(found["systems"]) == {"bm25", "bow"}
    assert found["label_noise"]["rates"] == {
        "matches": 0.1,
        "others": 0.2,
        "source": "as given",
        "matches_of": 0,
        "others_of": 0,
    }
    assert set(found["without"]) == {"bm25", "bow"}
    assert 0 <= found["differences"][0]["stays_above"] <= 1
    told = ("trained_on", "sees_tasks", "shared_with_annotator")
    assert [found["systems"]["bm25"][key] for key in told] == ["nothing: it counts words", False, "nothing"]


def test_reliability_and_coverage_are_told(made: Benchmark, ray: Client) -> None:
    found = json.loads(said("small", "--json"))
    (group,) = found["reliability"]["groups"]
    assert group["queries"] >= 2 and set(group["means"]) == {"bm25", "bow"}
    assert found["reliability"]["cronbach_alpha"] is None  # one group
    assert found["reliability"]["of_2_to_5_matches"]["cronbach_alpha"] is None
    assert 0 < found["systems"]["bm25"]["coverage"]["judged"] <= 1
    text = said("small")
    assert "Cronbach's alpha undefined, average variance undefined" in text
    assert "bm25 covers 100.0% of the judged functions" in text
    page = ray.get(reverse("benchmark", args=[made.pk])).content.decode()
    assert "Groups of two to five matches, as in CoSQA+" in page and "found=2-5" in page
    assert "By number of matches" in page and "covers 100.0 % of all that is judged" in page


def test_training_and_family_are_marked(made: Benchmark, tmp_path: Path, ray: Client) -> None:
    agents = Annotator.objects.version(Annotator.Kind.AGENTS, "agents", {"model": "gpt-4o"})
    factories.launched("first", mining=made.mining, annotator=agents)
    run = tmp_path / "run"
    run.write_text("queries-0 Q0 snippets-0 1 1 x\n")
    for name in ("nightowl", "text-embedding-3-large", "codebert", "mine"):
        call_command("evaluate", "small", "--run", f"{name}={run}", "--metrics", "mrr", stdout=StringIO())
    found = json.loads(said("small", "--json"))["systems"]
    shared = {one["system"]: one["shared_with_annotator"] for one in found.values()}
    assert shared["text-embedding-3-large"] == "of the family of the annotator’s model (OpenAI)"
    assert (shared["codebert"], shared["mine"], shared["bm25"]) == ("no", None, "nothing")
    assert [one["system"] for one in found.values() if one["sees_tasks"]] == [
        "codebert",
        "nightowl",
    ]
    lines = {line.split()[1]: line for line in said("small").splitlines()[1:7]}
    assert "trained on data of this field’s benchmarks" in lines["nightowl"]
    assert "of the family of the annotator’s model" in lines["text-embedding-3-large"]
    assert "family" not in lines["codebert"] and "trained" not in lines["mine"]
    page = ray.get(reverse("benchmark", args=[made.pk])).content.decode()
    assert page.count("trained on data of this field’s benchmarks") == 2
    assert page.count("of the family of the annotator’s model (OpenAI)") == 2


def test_the_command_and_the_page_assume_the_same_errors(
    made: Benchmark, monkeypatch: pytest.MonkeyPatch, ray: Client
) -> None:
    """Without a choice both take what a study measured; the page's hint fills the page as it is typed."""
    measured = leaderboard_notes.ErrorRateChoice("study-7", "by a study", ErrorRates(0.2, 0.1, "the study"))
    monkeypatch.setattr(leaderboard_notes, "_studied", lambda benchmark, user: [measured])
    monkeypatch.setattr(label_noise, "MOST_AT_ONCE", 0)
    place = reverse("benchmark", args=[made.pk])
    assert json.loads(said("small", "--json"))["label_noise"]["rates"]["source"] == "the study"
    assert "Stays above" in ray.get(place).content.decode()
    for asked in (
        {"errors": "0.1", "metric": "mrr", "found": "1"},
        {"errors": "study-7", "found": "2-4"},
        {"errors": "0.02", "found": "5+"},
        {"errors": "0.04"},
    ):
        page = ray.get(place, asked).content.decode()
        if "Each system against the next" not in page:
            continue
        assert "Stays above" not in page
        shown = re.findall(r"<code[^>]*>cosqa ([^<]*--errors [^<]*)</code> computes them", page)
        (hint,) = {one for one in shown if "--leave-one-out" not in one}
        call_command(*shlex.split(unescape(hint)), stdout=StringIO())
        assert "Stays above" in ray.get(place, asked).content.decode(), hint


@pytest.mark.parametrize(
    ("wrong", "of", "words"),
    [
        (0, 4, "; none of 4 matches was wrong, so up to 75% may be wrong"),
        (0, 2, "; none of 2 matches was wrong, so up to 100% may be wrong"),
        (0, 300, "; none of 300 matches was wrong, so up to 1% may be wrong"),
        (0.5, 4, ""),
        (0, 0, ""),
    ],
)
def test_no_error_among_few_labels_is_not_told_as_no_error(wrong: float, of: float, words: str) -> None:
    assert leaderboard_notes.describe_unseen_errors(Wrong(wrong / max(of, 1), of, of), "matches") == words


def test_what_labels_are_worth_is_what_none_wrong_leaves_open() -> None:
    told = leaderboard_notes.describe_unseen_errors(Wrong(0, 12, 5), "matches")
    assert told == "; none of 12 matches was wrong, so up to 60% may be wrong"


@pytest.mark.parametrize(
    ("worth", "said"), [((9, 4), ""), ((7.25, 4), "as sure as of 7.2 matches and 4 other labels")]
)
def test_the_shares_of_a_study_keep_the_labels_behind_them(worth: tuple[float, float], said: str) -> None:
    """Those that they are worth, which weights and labels of one query make fewer."""
    wrong = WrongLabels(Wrong(0.1, 9, worth[0]), Wrong(0.25, 4, worth[1]))
    choice = leaderboard_notes._of_study(
        Study(pk=7, name="small"), scores(Confusion(7.0, 2.0, 1.0, 3.0)), wrong
    )
    assert choice
    rates = choice.rates
    assert (rates.matches, rates.others, rates.matches_of, rates.others_of) == (0.1, 0.25, *worth)
    assert said in rates.source and ("drawn one by one" in rates.source) == bool(said)


def scores(confusion: Confusion) -> Scores:
    some = Figure(0.8)
    return Scores("agents", 13, 13, 0, 0, some, some, some, some, some, some, confusion)


def test_a_study_that_judged_none_of_one_kind_says_no_share() -> None:
    row = scores(Confusion(7.0, 2.0, 0.0, 0.0))
    assert (
        leaderboard_notes._of_study(Study(pk=7, name="small"), row, WrongLabels(Wrong(0.1, 9, 9), None))
        is None
    )


def test_the_page_says_what_is_not_in_the_draws(made: Benchmark, ray: Client) -> None:
    page = ray.get(reverse("benchmark", args=[made.pk])).content.decode()
    assert "Wrong labels are drawn one by one" in page and "repeats in similar queries" in page


def test_shares_that_a_study_counted_are_drawn_and_told_so(
    made: Benchmark, monkeypatch: pytest.MonkeyPatch, ray: Client
) -> None:
    words = "each draw takes other shares, as the 9 matches and 4 other labels of the study leave them open"
    place = reverse("benchmark", args=[made.pk])
    assert words not in said("small", "--errors", "0.061") + ray.get(place).content.decode()
    rates = ErrorRates(0.0, 0.0, "the study", 9, 4)
    monkeypatch.setattr(
        leaderboard_notes,
        "_studied",
        lambda of, user: [leaderboard_notes.ErrorRateChoice("study-7", "by a study", rates)],
    )
    assert words in said("small") and words in ray.get(place).content.decode()


def test_one_system_with_two_texts_stands_twice(made: Benchmark, tmp_path: Path) -> None:
    run = tmp_path / "bm25.run"
    run.write_text("queries-0 Q0 snippets-0 1 1 x\n")
    call_command("evaluate", "small", "--run", f"bm25 ={run}", stdout=StringIO())
    Run.objects.filter(system="bm25 ").update(system="bm25")
    text = said("small")
    assert " bm25: " in text and "; text: whole" in text
    assert " bm25 (text not known): " in text and "; text: not known" in text
    found = json.loads(said("small", "--json"))
    assert {name: one["text_option"] for name, one in found["systems"].items()} == {
        "bm25": "whole",
        "bow": "whole",
        "bm25 (text not known)": None,
    }


def test_what_was_not_computed_stands_with_the_command_that_computes_it(
    made: Benchmark, tmp_path: Path, ray: Client
) -> None:
    path = tmp_path / "mine.run"
    path.write_text("queries-0 Q0 snippets-0 1 1 x\n")
    words = ("--run", f"my run={path}", "--metrics", "mrr,map")
    call_command("evaluate", "small", *words, stdout=StringIO())
    expected = [
        f"cosqa evaluate small@1 {system} --pool candidates --metrics {metrics}"
        for system, metrics in (
            ("--encoder bow bm25 --text-option whole", "mrr,map,ndcg_all"),
            ("--run 'my run=mine.run'", "mrr,map,ndcg_all"),
        )
    ]
    found = json.loads(said("small", "--json"))["not_computed"]
    assert sorted(one["command"] for one in found) == sorted(expected)
    assert sorted((one["metrics"], one["systems"]) for one in found) == [
        (["map"], ["bow", "bm25"]),
        (["ndcg_all"], ["my run (text not known)"]),
    ]
    assert "not computed" not in said("small", "--metric", "mrr")
    assert f"–: map not computed for bow, bm25: {expected[0]}" in said("small", "--metric", "map")
    page = unescape(ray.get(reverse("benchmark", args=[made.pk]), {"show": ["map"]}).content.decode())
    assert "“–”: map was not computed for bow, bm25." in page and expected[0] in page
    assert expected[1] not in page  # its column is not shown
    with chdir(tmp_path):
        for command in expected:
            call_command(*shlex.split(command)[1:], stdout=StringIO())
    assert not json.loads(said("small", "--json"))["not_computed"] and Run.objects.count() == 3


def test_what_was_computed_and_has_no_value_is_called_undefined() -> None:
    run = Run(pk=1, system="a", text_option="whole")
    standing = SystemStanding(run, {"mrr": Mean(None, None, None, None)}, False, False)
    assert [build_leaderboard_cell(standing, name)["value"] for name in ("mrr", "map")] == ["undefined", "–"]
    assert leaderboards.mean_told(None) == "undefined"


def test_titles_that_are_alike_are_told_apart_by_the_run() -> None:
    runs = [
        Run(pk=1, system="a", text_option="without docstring"),
        Run(pk=2, system="a (without docstring)", text_option="whole"),
        Run(pk=3, system="a", text_option=""),
    ]
    assert list(titles_of(runs).values()) == [
        "a (without docstring) (run 1)",
        "a (without docstring) (run 2)",
        "a (text not known)",
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("other",), "no benchmark 'other'"),
        (
            ("small", "--pool", "collection"),
            "small@1 has no run over .*collection yet. Create one: cosqa evaluate small",
        ),
        (("small", "--matches", "many"), "write a number"),
        (("small", "--matches", "4-2"), "No query of small@1 has so many matches"),
        (("small", "--metric", "recall@3"), "No run on small@1 has recall@3.*There are mrr, ndcg_all"),
        (("small", "--errors", "2"), "between 0 and 1"),
        (("small", "--errors", "0.1,0.2,0.3"), "between 0 and 1"),
        (("small", "--metric", "ndcg_all", "--leave-one-out"), "not one that ranks decide"),
    ],
)
def test_what_is_wrong_is_said(made: Benchmark, words: tuple[str, ...], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        said(*words)
