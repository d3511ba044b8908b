"""A study as the LaTeX of a paper's evaluation: methods, flow of pairs, tables, references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from annotation.models import Study
from annotation.studies.report.charts import draw_interval_chart
from annotation.studies.report.figures import Figures, figures_of
from annotation.studies.report.formats import as_csv
from annotation.studies.report.latex import as_latex
from annotation.studies.report.methods_text import format_methods_paragraph
from annotation.studies.report.table import Table
from annotation.studies.report.tables import build_study_tables
from retrieval.texts.latex import escape_latex

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
    made = build_study_tables(found)
    texts = {f"tables/{table.key}.tex": as_latex(table) for table in made}
    texts |= {f"tables/{table.key}.csv": as_csv(table) for table in made}
    texts |= {f"charts/{table.key}.svg": drawn for table in made if (drawn := draw_interval_chart(table))}
    # Empty where nobody has rated yet.
    plan = {"plan": study.plan, "sha256": study.plan_hash, "amendments": study.amendments.count()}
    texts |= {
        "main.tex": main(found, made),
        "methods.tex": format_methods_paragraph(found),
        "references.bib": REFERENCES.read_text(encoding="utf-8"),
        "plan.json": json.dumps(plan, indent=1, sort_keys=True, ensure_ascii=False) + "\n",
    }
    return [write_latex_file(folder / name, text) for name, text in sorted(texts.items())]


def write_latex_file(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def main(found: Figures, made: tuple[Table, ...]) -> str:
    inputs = "\n".join(rf"\input{{tables/{table.key}}}" for table in made)
    date = f"{found.study.closed_at or found.study.created_at:%Y-%m-%d}"
    return MAIN % {"title": escape_latex(found.study.name), "date": date, "inputs": inputs}
