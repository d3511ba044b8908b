"""The LaTeX of a study: everything that it names is there, and it compiles where LaTeX is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from annotation.models import Study
from annotation.schemas.studies.studies import Allocation, SampleWish, Stratifier
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from annotation.studies.plan.plan import freeze_plan
from annotation.studies.report.figures import NoFigures
from annotation.studies.report.paper_latex import write_paper
from tests import factories, studies
from tests.annotation.studies.rated import agents, pairwise, rated_study

pytestmark = pytest.mark.django_db


def test_the_folder_is_whole(tmp_path: Path) -> None:
    study = rated_study([[1, 0, 1, 0]] * 3, name="50 % & more_of $it$", question="who is \\right?")
    agents(study, [1, 0, 1, 1])
    written = write_paper(study, tmp_path)
    main = (tmp_path / "main.tex").read_text()
    for name in re.findall(r"\\input\{(.+?)\}", main):
        assert (tmp_path / f"{name}.tex").is_file()
    methods = (tmp_path / "methods.tex").read_text()
    for key in re.findall(r"\\cite\{(\w+)\}", methods):
        assert f"{{{key}," in (tmp_path / "references.bib").read_text()
    assert "4 pairs" in methods
    assert r"\textbackslash{}right" in methods
    assert r"50 \% \& more\_of \$it\$" in main
    assert {path.name for path in written} >= {"main.tex", "methods.tex", "references.bib", "plan.json"}
    assert (tmp_path / "charts" / "main.svg").is_file()


def test_without_ratings_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(NoFigures):
        write_paper(studies.study(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_it_compiles(tmp_path: Path) -> None:
    """By pdflatex where there is one; everywhere by its braces."""
    study = rated_study([[1, 0, 1, 0]] * 3)
    agents(study, [1, 0, 1, 1])
    for path in write_paper(study, tmp_path):
        if path.suffix == ".tex":
            text = re.sub(r"\\[{}\\]", "", path.read_text())
            assert text.count("{") == text.count("}"), path
    if shutil.which("pdflatex"):
        for _ in range(2):
            ran = subprocess.run(
                ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"],
                cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
            )  # fmt: skip
            assert ran.returncode == 0, ran.stdout[-2000:]


def told(study: Study, folder: Path) -> str:
    write_paper(study, folder)
    return (folder / "methods.tex").read_text()


def test_methods_tell_the_design_of_the_frozen_plan(tmp_path: Path) -> None:
    wish = SampleWish(
        size=4, seed=77, strata=(Stratifier.LABEL, Stratifier.RANK), allocation=Allocation.EQUAL
    )
    study = rated_study(
        [[1, 0, 1, 0]] * 3,
        sample={"wish": wish.model_dump(mode="json"), "population": 400, "population_queries": 50},
        comparisons=[["agents", "own_tests"], ["agents", "nobody"]],
        margin=0.05,
        exclusions="raters below 60 % on planted pairs.",
    )
    agents(study, [1, 0, 1, 1])
    study.pairs.filter(number=1).update(probability=0.25)
    study.enrolments.update(years_of_python=4, occupation="Engineer", languages="English and Dutch")
    study.enrolments.filter(pseudonym="R01").update(years_of_python=9, languages="english", excluded=True)
    study.enrolments.filter(pseudonym="R02").update(years_of_python=8, languages="DUTCH")
    freeze_plan(study)
    Study.objects.filter(pk=study.pk).update(margin=0.5)  # what the plan says counts
    methods = told(study, tmp_path)
    for words in (
        "one pair a query, in strata by the agents' label and the rank (1, 2 to 5, 6 to 10, after 10)",
        "as many of each, with the seed 77",
        "from 400 pairs of 50 queries was 0.25 to 1",
        r"comparisons of agents with own\_tests; agents with nobody. Not made: 1",
        "margin of non-inferiority is 0.05",
        r"raters below 60 \% on planted pairs. 1 rater is left out",
        "2 raters took part, with 4 to 8 years of Python (median 6); roles: Engineer (2)",
        "languages: DUTCH (2), English (1)",
        "What agents had said was closed to them.",
    ):
        assert words in methods, (words, methods)
    table = (tmp_path / "tables" / "raters.csv").read_text()
    assert '"4 to 8, median 6",2' in table and "language,DUTCH,2" in table and "R02" not in table


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("Who is right?", "answer: Who is right? "),
        ("Is it so. ", "answer: Is it so. "),
        ("It", "answer: It. "),
    ],
)
def test_what_was_typed_ends_as_one_sentence(tmp_path: Path, typed: str, words: str) -> None:
    methods = told(rated_study([[1, 0]] * 3, question=typed, exclusions="Below 2 s."), tmp_path)
    assert words in methods and "By plan left out are: Below 2 s. Nobody's ratings are left out" in methods


def test_ratings_before_pairs_were_asked_again_and_alike_years_are_told(tmp_path: Path) -> None:
    study = rated_study([[1, 0, 1], [1, 0, 1], [0, 0, 1]])
    study.enrolments.update(years_of_python=4)
    assert "asked again" not in told(study, tmp_path)
    ask_again(study, RepeatPairFilter(slice="split"), "the rules are stricter now", factories.ada())
    methods = told(study, tmp_path)
    assert "asked again as the guidelines had changed: 3 ratings of earlier rounds are in no" in methods
    assert "with 4 years of Python (median 4)" in methods
    assert '"4, median 4",3' in (tmp_path / "tables" / "raters.csv").read_text()


def test_methods_of_a_pairwise_study_name_no_test_that_it_has_not(tmp_path: Path) -> None:
    methods = told(pairwise(), tmp_path)
    assert "exact sign test over queries" in methods and "We drew 8 pairs" in methods
    assert "McNemar" not in methods and "prediction-powered" not in methods


@pytest.mark.parametrize(
    ("kinds", "words", "never"),
    [
        (("own_tests", "reveal"), "closed to raters under own tests. Under reveal everything", "to them"),
        (("agents_tests",), "Under agent's tests they saw the agents' test program", "closed to"),
        (("reading", "second_look"), "closed to them. Under second look", "assisted"),
    ],
)
def test_methods_say_what_raters_saw_of_the_agents(
    tmp_path: Path, kinds: tuple[str, ...], words: str, never: str
) -> None:
    study = studies.study(conditions=kinds)
    studies.rated(studies.rater("ruth", study), 1)
    methods = told(study, tmp_path)
    assert words in methods and never not in methods
    assert "The plan has no exclusion rules" in methods and "No comparison was planned" in methods
