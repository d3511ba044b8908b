"""`manage.py agreement import|report`: labels from elsewhere, and how far the raters of a study agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.lookups import find_study
from annotation.models import Study
from annotation.studies.label_import.foreign_labels import Format, NotImported
from annotation.studies.label_import.import_labels import import_labels
from annotation.studies.report.agreement_report import NoReport, Report, report_study_agreement
from retrieval.management.light import LightCommand
from retrieval.texts.plurals import count_noun


class Command(LightCommand):
    reads_foreign_files = True
    help = (
        "'import' loads labels that people gave elsewhere into a study without a build: CodeSearchNet's "
        "annotations, or a CSV file with the columns item, label (and perhaps rater, query, notes). "
        "'report' says how far the raters of a study agree."
    )
    refusals = (NoReport,)

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, parser_class=type(parser))
        take = actions.add_parser("import", help="load a file of labels")
        take.add_argument("file", type=Path, help="CSV file, UTF-8")
        take.add_argument("--name", required=True, help="name of the new study")
        take.add_argument(
            "--format", required=True, choices=[form.value for form in Format], help="what its columns are"
        )
        say = actions.add_parser("report", help="agreement of a study's raters")
        say.add_argument("study", help="name of the study")
        say.add_argument("--json", action="store_true", help="as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "import":
            self.take(options["file"], options["name"], Format(options["format"]))
        else:
            self.say(options["study"], options["json"])

    def take(self, path: Path, name: str, form: Format) -> None:
        try:
            study = import_labels(path, name, form)
        except NotImported as why:
            for problem in why.problems[:-1]:
                self.stderr.write(problem)
            raise CommandError(f"{why.problems[-1]}\nNothing was stored.") from why
        self.stdout.write(describe_imported_labels(study))

    def say(self, name: str, as_json: bool) -> None:
        found = report_study_agreement(find_study(name))
        self.stdout.write(
            json.dumps(found.as_json(), indent=2) if as_json else format_agreement_report(found)
        )


def describe_imported_labels(study: Study) -> str:
    """What an import has made; that nobody is named is told, as a misspelt header has the same effect."""
    labels = study.sample["labels"]
    nobody = "" if study.imported.exclude(rater="").exists() else "; the file names no rater"
    return (
        f"{count_noun(labels, 'label')} of {count_noun(study.planned_pairs, 'item')} "
        f"{'is' if labels == 1 else 'are'} in study {study.name!r}{nobody}; "
        "'cosqa admin agreement report' says how far they agree"
    )


def format_agreement_report(found: Report) -> str:
    """The report to be read: counts, a figure a line, notes."""
    lines = [
        f"{count_noun(found.items, 'item')}, {found.items_with_two:,} with two labels or more, "
        f"{count_noun(found.labels, 'label')}, "
        + (count_noun(found.raters, "rater") if found.raters else "raters not named")
    ]
    for name, figure in found.figures.items():
        value = "–" if figure.value is None else f"{figure.value:.3f}"
        ends = "" if figure.low is None else f"  {figure.low:.3f} to {figure.high:.3f}"
        lines.append(f"{name:28} {value}{ends}{'  ' + figure.words if figure.words else ''}")
    return "\n".join([*lines, *found.notes])
