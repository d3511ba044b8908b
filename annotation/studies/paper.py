"""A study as the LaTeX of a paper's evaluation: methods, flow of pairs, tables, references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from annotation.agreement import RESAMPLES, SEED
from annotation.models import Study
from annotation.studies.figures import Figures, figures_of
from annotation.studies.formats import as_csv, as_latex, as_svg, number, tex
from annotation.studies.tables import Table, tables

MAIN: Final = r"""\documentclass[10pt,twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{booktabs}
\usepackage{graphicx}
\usepackage[margin=2cm]{geometry}
\title{%(title)s}
\date{%(date)s}
\begin{document}
\maketitle
\section{Method}
\input{methods}
\section{Results}
%(inputs)s
\bibliographystyle{plain}
\bibliography{references}
\end{document}
"""
REFERENCES: Final = Path(__file__).with_name("references.bib")


def write_paper(study: Study, folder: Path) -> list[Path]:
    """Write the folder and say what was written. Raises NoFigures, and OSError where it can't be written."""
    found = figures_of(study)
    made = tables(found)
    texts = {f"tables/{table.key}.tex": as_latex(table) for table in made}
    texts |= {f"tables/{table.key}.csv": as_csv(table) for table in made}
    texts |= {f"charts/{table.key}.svg": drawn for table in made if (drawn := as_svg(table))}
    texts |= {
        "main.tex": main(found, made),
        "methods.tex": methods(found),
        "references.bib": REFERENCES.read_text(encoding="utf-8"),
        "plan.json": json.dumps(plan_of(study), indent=1, sort_keys=True, ensure_ascii=False) + "\n",
    }
    return [written(folder / name, text) for name, text in sorted(texts.items())]


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def main(found: Figures, made: tuple[Table, ...]) -> str:
    inputs = "\n".join(rf"\input{{tables/{table.key}}}" for table in made)
    date = f"{found.study.closed_at or found.study.created_at:%Y-%m-%d}"
    return MAIN % {"title": tex(found.study.name), "date": date, "inputs": inputs}


def plan_of(study: Study) -> dict[str, Any]:
    """The frozen plan; empty where nobody has rated yet."""
    return {"plan": study.plan, "sha256": study.plan_hash, "amendments": study.amendments.count()}


def methods(found: Figures) -> str:
    """The methods paragraph, from the plan and from what was done."""
    return " ".join([sampled(found), rated(found), referred(found), counted(found), kept(found)]) + "\n"


def sampled(found: Figures) -> str:
    study, one = found.study, found.flow
    builds = ", ".join(str(build) for build in study.builds.all()) or "labels from elsewhere"
    asked = f" to answer: {tex(study.question)}" if study.question else ""
    planted = f", and {one.planted:,} planted pairs that are not counted" if one.planted else ""
    return f"We drew {one.sampled:,} pairs from {tex(builds)}{planted}{asked}."


def rated(found: Figures) -> str:
    study = found.study
    parts = [
        f"{condition.get_kind_display()} ({condition.raters} ratings a pair, "
        f"{condition.enrolments.count()} raters{median(found, condition.kind)})"
        for condition in study.conditions.all()
    ]
    rules = f" They followed the guidelines {tex(str(study.guideline))}." if study.guideline else ""
    return (
        f"Raters judged under {tex('; '.join(parts))}, other people for each condition, on the scale "
        f"{tex(study.get_scale_display())}, in the order {tex(study.get_order_display())}; docstrings were "
        f"{tex(study.docstring)}.{rules} What agents had said was closed to them."
    )


def median(found: Figures, kind: str) -> str:
    seconds = found.seconds.get(kind)
    return f", median {number(round(seconds))} s of active time" if seconds else ""


def referred(found: Figures) -> str:
    if found.page is None:
        return "Each choice is between two snippets whose sides were shuffled."
    margin = f" The margin of non-inferiority is {found.study.margin:g}." if found.study.margin else ""
    return (
        f"The reference is the strict majority of the planned ratings under {tex(found.page.reference)}; "
        r"people who made it are each held against the others \cite{calderon2025}. "
        f"{found.flow.split:,} pairs had no strict majority, and "
        f"{found.flow.adjudicated:,} were adjudicated.{margin}"
    )


def counted(found: Figures) -> str:
    return (
        f"Intervals are 95\\,\\% and resample queries with all their pairs ({RESAMPLES:,} draws, "
        f"seed {SEED}); "
        r"Wilson's \cite{wilson1927} where no pairs share a query. "
        r"Agreement is Krippendorff's alpha \cite{krippendorff2011}, "
        r"with Gwet's AC1 \cite{gwet2008} where one label prevails. "
        r"Differences are tested by mid-p McNemar \cite{fagerland2013} or the query bootstrap, "
        r"corrected by Holm. The error of all labels is prediction-powered \cite{fisch2024}. "
        r"We follow the design of \cite{cosqaplus}."
    )


def scored(found: Figures) -> str:
    """How often the study was looked at, where that is counted."""
    if found.study.purpose != Study.Purpose.SEALED:
        return "this is a development study, on which scored versions are not counted"
    return f"{len(found.scorings)} annotator versions were scored on this sealed study"


def kept(found: Figures) -> str:
    study = found.study
    interim = " These figures are interim: planned ratings are missing." if found.interim else ""
    if not study.plan_hash:
        return f"The plan was not frozen.{interim}"
    return (
        f"The plan was frozen on {study.frozen_at:%Y-%m-%d} with the SHA-256 "
        rf"\texttt{{{study.plan_hash[:16]}}}\ldots; {study.amendments.count()} amendments were recorded and "
        f"{scored(found)}.{interim}"
    )
