"""`manage.py study list|new|start|plan|export|score|paper`: studies from the command line."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from pydantic import ValidationError

from annotation.access import Role, builds_visible_to, has_role
from annotation.agreement import planner
from annotation.models import Study
from annotation.pages.studies import quotas_of
from annotation.schemas.studies import StudyIn
from annotation.studies import controlling, creating, exporting, foreseeing, scoring
from annotation.studies.auditing import Verb, record
from annotation.studies.controlling import Action
from annotation.studies.estimating import outlook_of, room_of
from annotation.studies.figures import NoFigures
from annotation.studies.foreseeing import Rates
from annotation.studies.orders import order_of
from annotation.studies.paper import write_paper
from annotation.studies.planning import StudyRefused
from annotation.studies.records import PARTS, lines_of, parts_of
from annotation.studies.sampling.wishing import SampleRefused
from retrieval.counting import counted
from retrieval.management.light import LightCommand

LARGEST_FILE = 10_000_000
RATES = tuple(one.name for one in fields(Rates) if one.name != "pilot")


class Command(LightCommand):
    help = "List, make, start and export studies."

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_subparsers(dest="what", required=True)
        what.add_parser("list", help="name, state, ratings given of those planned, and hash of each plan")
        new = what.add_parser("new", help="a draft, from a JSON file as POST /api/studies takes it")
        new.add_argument("file", help="'-' reads the standard input")
        new.add_argument("--as", dest="user", required=True, help="name of the admin who makes it")
        start = what.add_parser("start", help="start a draft")
        start.add_argument("name", help="of the study")
        start.add_argument("--as", dest="user", required=True, help="name of the admin who starts it")
        plan = what.add_parser("plan", help="print the plan: the text that is hashed, or Markdown")
        plan.add_argument("name", help="of the study")
        plan.add_argument("--markdown", action="store_true", help="to be read, with the amendments")
        plan.add_argument("--simulate", action="store_true", help="say how sure the study will be instead")
        plan.add_argument("--needed", action="store_true", help="say how many pairs it takes instead")
        plan.add_argument(
            "--pilot", help="name of a study whose rates are simulated; else those kept with the draft"
        )
        for name in RATES:
            plan.add_argument(
                f"--{name.replace('_', '-')}", type=float, help="a share; assumed in a simulation"
            )
        export = what.add_parser("export", help="print every revision of every rating, or another part")
        export.add_argument("name", help="of the study")
        export.add_argument(
            "part",
            nargs="?",
            choices=PARTS,
            help="ratings (the usual one); skips with reasons; decisions on splits; a study of labels from "
            "elsewhere has these alone",
        )
        export.add_argument("--json", action="store_true", help="JSON and not CSV")

        score = what.add_parser(
            "score", help="take annotator versions into a sealed study's figures, for ever"
        )
        score.add_argument("name", help="of the study")
        score.add_argument("versions", nargs="*", help="name or beginning of the version; all that wait")
        score.add_argument("--as", dest="user", required=True, help="name of the admin who scores them")
        paper = what.add_parser("paper", help="write a LaTeX folder: methods, tables, charts, references")
        paper.add_argument("name", help="of the study")
        paper.add_argument("folder", type=Path, help="a new or an empty folder")

    def handle(self, *args: Any, **options: Any) -> None:
        verbs: dict[str, Callable[[dict[str, Any]], None]] = {
            "list": self.list,
            "new": self.new,
            "start": self.start,
            "plan": self.plan,
            "export": self.export,
            "paper": self.paper,
            "score": self.score,
        }
        try:
            verbs[options["what"]](options)
        except (StudyRefused, SampleRefused, NoFigures) as why:
            raise CommandError(str(why)) from why

    def list(self, options: dict[str, Any]) -> None:
        studies = list(Study.objects.order_by("pk"))
        progress = quotas_of([study.pk for study in studies])
        for study in studies:
            so_far = ratings_of(study, *progress.get(study.pk, (0, 0)))
            self.stdout.write(f"{study.name}  {study.state}  {so_far}  {study.plan_hash[:12]}")

    def new(self, options: dict[str, Any]) -> None:
        by = admin(options["user"])
        study = creating.make(order_of(read(options["file"]), builds_visible_to(by)), by)
        found = outlook_of(study)
        pairs = f"{counted(found.pairs, 'pair')} of {counted(found.queries, 'query', 'queries')}"
        cost = f"{counted(found.ratings, 'rating')}, {found.hours:,.1f} hours, ${found.dollars:,.2f}"
        self.stdout.write(f"draft {study.pk}: {pairs}, {cost}")
        for line in (*found.problems, *found.warnings):
            self.stderr.write(line)

    def start(self, options: dict[str, Any]) -> None:
        study = ours(options["name"])
        controlling.control(study, Action.START, admin(options["user"]))
        self.stdout.write(f"{study.name} runs")

    def plan(self, options: dict[str, Any]) -> None:
        study = ours(options["name"])
        if options["simulate"] or options["needed"]:
            self.foresee(study, options)
        elif options["markdown"]:
            self.stdout.write(exporting.plan_markdown(study, study.amendments.all()), ending="")
        else:
            # Without a line end: the hash is that of exactly this text.
            self.stdout.write(exporting.plan_json(study), ending="")

    def foresee(self, study: Study, options: dict[str, Any]) -> None:
        rates = rates_for(study, options)
        size = foreseeing.size_of(study)
        if options["needed"]:
            told = foreseeing.needed(size, rates, planner.STUDIES, planner.MOST_PAIRS)
            if told is None:
                raise CommandError(
                    f"Even {planner.MOST_PAIRS:,} pairs would not show the margin often enough."
                )
            room = room_of(study.sample)
            if room and (lacking := room.lacking(told.outlook.pairs)):
                self.stderr.write(lacking)
        else:
            told = foreseeing.foresee(size, rates, planner.STUDIES)
        self.stdout.write(json.dumps({"rates": told.source} | asdict(told.outlook), indent=2))

    def export(self, options: dict[str, Any]) -> None:
        study = named(options["name"])
        parts = parts_of(study)
        part = options["part"] or next(iter(parts))
        if part not in parts:
            raise CommandError(f"The study {study.name!r} has no {part}; it has {', '.join(parts)}.")
        record(None, Verb.EXPORTED, f"{part} of {study.name}", study, {"format": "command line"})
        for line in lines_of(study, parts[part], options["json"]):
            self.stdout.write(line, ending="")

    def score(self, options: dict[str, Any]) -> None:
        study, by = ours(options["name"]), admin(options["user"])
        for made in scoring.score(study, scoring.named(study, options["versions"]), by):
            self.stdout.write(f"scored {made.annotator}")
        total = study.scorings.count()
        self.stdout.write(f"{counted(total, 'version was', 'versions were')} scored on {study.name}")

    def paper(self, options: dict[str, Any]) -> None:
        study, folder = ours(options["name"]), options["folder"]
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CommandError(f"{folder} is not an empty folder; nothing was written.")
        try:
            written = write_paper(study, folder)
        except OSError as why:
            raise CommandError(f"{folder} can't be written: {why}") from why
        record(None, Verb.EXPORTED, f"paper of {study.name}", study, {"format": "LaTeX"})
        self.stdout.write(
            f"{len(written)} files in {folder}; `pdflatex main` and `bibtex main` make the pages."
        )


def named(name: str) -> Study:
    found = Study.objects.filter(name=name).first()
    if found is None:
        raise CommandError(f"There is no study called {name!r}; 'study list' shows what there is.")
    return found


def ratings_of(study: Study, done: int, wanted: int) -> str:
    """How much there is of a study, and how much of it is rated."""
    if study.kind == Study.Kind.IMPORTED:
        items = counted(study.planned_pairs, "item")
        return f"{items}  {counted(study.sample.get('labels', 0), 'label')} from elsewhere"
    ratings = f"{done:,} of {wanted:,} ratings" if wanted else "no ratings yet"
    return f"{counted(study.planned_pairs, 'pair')}  {ratings}"


def ours(name: str) -> Study:
    """One that people rate in here: labels from elsewhere have no plan, no raters and no ratings."""
    found = named(name)
    if found.kind == Study.Kind.IMPORTED:
        raise CommandError(
            f"The labels of {name!r} came from elsewhere, so there is only their agreement: "
            f"'manage.py agreement report {shlex.quote(name)}', or the study's page with its downloads; "
            f"'manage.py study export {shlex.quote(name)}' prints the labels."
        )
    return found


def admin(name: str) -> User:
    found = User.objects.filter(username=name).first()
    if found is None or not has_role(found, Role.ADMIN):
        raise CommandError(f"{name!r} is no admin; 'manage.py account {name} --role admin' makes one.")
    return found


def rates_for(study: Study, options: dict[str, Any]) -> Rates:
    """What is typed, and else what is kept with the draft."""
    typed = {name: options[name] for name in RATES if options[name] is not None}
    if options["pilot"]:
        typed["pilot"] = ours(options["pilot"]).pk
    return replace(foreseeing.rates_from(study.sample.get("rates", {})), **typed)


def read(file: str) -> StudyIn:
    """What a file asks for. Raises CommandError where it can't be read."""
    try:
        text = sys.stdin.read(LARGEST_FILE) if file == "-" else Path(file).read_text("utf-8")[:LARGEST_FILE]
        return StudyIn.model_validate(json.loads(text))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as wrong:
        raise CommandError(f"{file} can't be read: {wrong}") from wrong
    except ValidationError as wrong:
        problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in wrong.errors()[:5])
        raise CommandError(f"{file} is no study: {problems}") from wrong
