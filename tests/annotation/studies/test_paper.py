"""The LaTeX of a study: everything that it names is there, and it compiles where LaTeX is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from annotation.studies.figures import NoFigures
from annotation.studies.paper import write_paper
from tests import studies
from tests.annotation.studies.test_figures import agents, rated_study

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
