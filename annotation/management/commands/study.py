"""`manage.py study list|new|start|close|publish|plan|export|score|paper`: studies from the command line."""

from __future__ import annotations

import json
import shlex
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from pydantic import ValidationError

from annotation.accounts.roles import Role, builds_visible_to, has_role
from annotation.management.lookups import find_study
from annotation.models import Study
from annotation.schemas.studies.studies import AssumedRates, StudyIn
from annotation.stats.planning import planner
from annotation.studies.adjudication import sealed_scores, verified_subset
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.plan import control, creation, forecast
from annotation.studies.plan.control import Action
from annotation.studies.plan.effort import outlook_of, room_of
from annotation.studies.plan.order_json import order_of
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.report import rating_export
from annotation.studies.report.figures import NoFigures
from annotation.studies.report.paper_latex import write_paper
from annotation.studies.report.records import PARTS, lines_of_part, record_parts_of_study
from annotation.studies.sampling.sample_order import SampleRefused
from annotation.web.studies.page import quotas_of
from retrieval.management.failures import add_json_option
from retrieval.management.light import LightCommand
from retrieval.texts.plurals import count_noun
from retrieval.texts.small_files import parse_json, read_small_text

LARGEST_FILE = 10_000_000
RATES = tuple(name for name in AssumedRates.model_fields if name != "pilot")


class Command(LightCommand):
    help = "List, make, start, close, publish and export studies."
    refusals = (NoFigures, SampleRefused, StudyRefused)

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_subparsers(dest="what", required=True)
        add_json_option(
            what.add_parser("list", help="name, state, ratings given of those planned, and hash of each plan")
        )
        new = what.add_parser("new", help="a draft, from a JSON file as POST /api/studies takes it")
        new.add_argument("file", help="'-' reads the standard input")
        add_actor(new)
        add_json_option(new)
        add_actor(add_verb(what, "start", "start a draft"))
        close = add_verb(what, "close", "end a study: nobody can rate in it any more")
        close.add_argument("--reason", default="", help="needed where some pairs have no rating")
        add_actor(close)
        add_actor(add_verb(what, "publish", "make labels of a closed study's decisions, once"))
        plan = add_verb(what, "plan", "print the plan: the text that is hashed, or Markdown")
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
        export = add_verb(what, "export", "print every revision of every rating, or another part")
        export.add_argument(
            "part",
            nargs="?",
            choices=PARTS,
            help="ratings (the usual one); skips with reasons; decisions on splits; a study of labels from "
            "elsewhere has these alone",
        )
        export.add_argument("--json", action="store_true", help="JSON and not CSV")

        score = add_verb(what, "score", "take annotator versions into a sealed study's figures, for ever")
        score.add_argument("versions", nargs="*", help="name or beginning of the version; all that wait")
        add_actor(score)
        paper = add_verb(what, "paper", "write a LaTeX folder: methods, tables, charts, references")
        paper.add_argument("folder", type=Path, help="a new or an empty folder")

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, options["what"])(options)

    def list(self, options: dict[str, Any]) -> None:
        studies = list(Study.objects.order_by("pk"))
        progress = quotas_of([study.pk for study in studies])
        facts = []
        for study in studies:
            done, wanted = progress.get(study.pk, (0, 0))
            facts.append({**study_facts(study), "ratings": done, "ratings_planned": wanted})
            so_far = ratings_of(study, done, wanted)
            self.tell_people(f"{study.name}  {study.state}  {so_far}  {study.plan_hash[:12]}")
        self.print_json({"studies": facts})

    def new(self, options: dict[str, Any]) -> None:
        by = find_admin_user(options["user"])
        study = creation.create_draft_study(
            order_of(load_study_file(options["file"]), builds_visible_to(by)), by
        )
        found = outlook_of(study)
        pairs = f"{count_noun(found.pairs, 'pair')} of {count_noun(found.queries, 'query', 'queries')}"
        cost = f"{count_noun(found.ratings, 'rating')}, {found.hours:,.1f} hours, ${found.dollars:,.2f}"
        self.tell_people(f"draft {study.pk}: {pairs}, {cost}")
        for line in (*found.problems, *found.warnings):
            self.stderr.write(line)
        outlook = {"queries": found.queries, "ratings": found.ratings, "hours": found.hours}
        notes = {"problems": list(found.problems), "warnings": list(found.warnings)}
        self.print_json({**study_facts(study), **outlook, "dollars": found.dollars, **notes})

    def start(self, options: dict[str, Any]) -> None:
        study = find_internal_study(options["name"])
        control.perform_study_action(study, Action.START, find_admin_user(options["user"]))
        self.tell_people(f"{study.name} runs")
        self.print_json(study_facts(study))

    def close(self, options: dict[str, Any]) -> None:
        study, by = find_internal_study(options["name"]), find_admin_user(options["user"])
        control.perform_study_action(study, Action.CLOSE, by, options["reason"])
        self.tell_people(f"{study.name} is closed")
        self.print_json(study_facts(study))

    def publish(self, options: dict[str, Any]) -> None:
        study, by = find_internal_study(options["name"]), find_admin_user(options["user"])
        count = verified_subset.publish_verified_subset(study, by)
        self.tell_people(f"{count_noun(count, 'label')} of {study.name} published")
        self.print_json({**study_facts(study), "labels": count})

    def plan(self, options: dict[str, Any]) -> None:
        study = find_internal_study(options["name"])
        if options["simulate"] or options["needed"]:
            self.foresee(study, options)
        elif options["json"]:
            plan = json.loads(rating_export.plan_json(study))
            self.print_json({**study_facts(study), "plan": plan})
        elif options["markdown"]:
            self.stdout.write(rating_export.plan_markdown(study, study.amendments.all()), ending="")
        else:
            # Without a line end: the hash is that of exactly this text.
            self.stdout.write(rating_export.plan_json(study), ending="")

    def foresee(self, study: Study, options: dict[str, Any]) -> None:
        rates = rates_for(study, options)
        size = forecast.size_of(study)
        if options["needed"]:
            told = forecast.find_smallest_study(size, rates, planner.STUDIES, planner.MOST_PAIRS)
            if told is None:
                raise CommandError(
                    f"Even {planner.MOST_PAIRS:,} pairs would not show the margin often enough."
                )
            room = room_of(study.sample)
            if room and (lacking := room.lacking(told.outlook.pairs)):
                self.stderr.write(lacking)
        else:
            told = forecast.simulate_study_precision(size, rates, planner.STUDIES)
        self.stdout.write(json.dumps({"rates": told.source} | asdict(told.outlook), indent=2))

    def export(self, options: dict[str, Any]) -> None:
        study = find_study(options["name"])
        parts = record_parts_of_study(study)
        part = options["part"] or next(iter(parts))
        if part not in parts:
            raise CommandError(f"The study {study.name!r} has no {part}; it has {', '.join(parts)}.")
        append_audit_event(None, Verb.EXPORTED, f"{part} of {study.name}", study, {"format": "command line"})
        for line in lines_of_part(study, parts[part], options["json"]):
            self.stdout.write(line, ending="")

    def score(self, options: dict[str, Any]) -> None:
        study, by = find_internal_study(options["name"]), find_admin_user(options["user"])
        scored: list[str] = []
        for made in sealed_scores.score_sealed_versions(
            study, sealed_scores.find_unscored_versions(study, options["versions"]), by
        ):
            scored.append(str(made.annotator))
            self.tell_people(f"scored {made.annotator}")
        total = study.scorings.count()
        self.tell_people(f"{count_noun(total, 'version was', 'versions were')} scored on {study.name}")
        self.print_json({**study_facts(study), "scored": scored, "versions": total})

    def paper(self, options: dict[str, Any]) -> None:
        study, folder = find_internal_study(options["name"]), options["folder"]
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CommandError(f"{folder} is not an empty folder; nothing was written.")
        try:
            written = write_paper(study, folder)
        except OSError as why:
            raise CommandError(f"{folder} can't be written: {why}") from why
        append_audit_event(None, Verb.EXPORTED, f"paper of {study.name}", study, {"format": "LaTeX"})
        self.tell_people(
            f"{len(written)} files in {folder}; `pdflatex main` and `bibtex main` make the pages."
        )
        self.print_json({**study_facts(study), "folder": folder, "files": sorted(map(str, written))})


def study_facts(study: Study) -> dict[str, Any]:
    """What `--json` prints of any study."""
    return {
        "id": study.pk,
        "name": study.name,
        "state": study.state,
        "pairs": study.planned_pairs,
        "plan_hash": study.plan_hash,
    }


def add_verb(what: Any, verb: str, words: str) -> ArgumentParser:
    """A verb that is about one study."""
    parser: ArgumentParser = what.add_parser(verb, help=words)
    parser.add_argument("name", help="of the study")
    if verb != "export":  # which has one of its own
        add_json_option(parser)
    return parser


def add_actor(parser: ArgumentParser) -> None:
    parser.add_argument("--as", dest="user", required=True, help="name of the admin who does it")


def ratings_of(study: Study, done: int, wanted: int) -> str:
    """How much there is of a study, and how much of it is rated."""
    if study.kind == Study.Kind.IMPORTED:
        items = count_noun(study.planned_pairs, "item")
        return f"{items}  {count_noun(study.sample.get('labels', 0), 'label')} from elsewhere"
    ratings = f"{done:,} of {wanted:,} ratings" if wanted else "no ratings yet"
    return f"{count_noun(study.planned_pairs, 'pair')}  {ratings}"


def find_internal_study(name: str) -> Study:
    """One that people rate in here: labels from elsewhere have no plan, no raters and no ratings."""
    found = find_study(name)
    if found.kind == Study.Kind.IMPORTED:
        raise CommandError(
            f"The labels of {name!r} came from elsewhere, so there is only their agreement: "
            f"'cosqa admin agreement report {shlex.quote(name)}', or the study's page with its downloads; "
            f"'cosqa study export {shlex.quote(name)}' prints the labels."
        )
    return found


def find_admin_user(name: str) -> User:
    found = User.objects.filter(username=name).first()
    if found is None or not has_role(found, Role.ADMIN):
        raise CommandError(f"{name!r} is no admin; 'cosqa admin account {name} --role admin' makes one.")
    return found


def rates_for(study: Study, options: dict[str, Any]) -> AssumedRates:
    """What is typed, and else what is kept with the draft."""
    typed = {name: options[name] for name in RATES if options[name] is not None}
    if options["pilot"]:
        typed["pilot"] = find_internal_study(options["pilot"]).pk
    return forecast.rates_from(study.sample.get("rates", {})).model_copy(update=typed)


def load_study_file(file: str) -> StudyIn:
    """What a file asks for. Raises CommandError where it can't be read."""
    try:
        return StudyIn.model_validate(parse_json(load_study_text(file)))
    except ValidationError as wrong:
        problems = "; ".join(
            f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in wrong.errors()[:5]
        )
        raise CommandError(f"{file} is no study: {problems}") from wrong
    except (OSError, ValueError) as wrong:  # ValidationError is a ValueError, too
        raise CommandError(f"{file} can't be read: {wrong}") from wrong


def load_study_text(file: str) -> str:
    """What a file says, `-` the standard input. Raises OSError, and ValueError where it is too large."""
    if file != "-":
        return read_small_text(Path(file), LARGEST_FILE)
    text = sys.stdin.read(LARGEST_FILE + 1)
    if len(text) > LARGEST_FILE:
        raise ValueError(f"has more than {LARGEST_FILE:,} characters")
    return text
