"""`manage.py study`: drafts from files, and what is printed of plans and ratings."""

from __future__ import annotations

import hashlib
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.accounts.roles import Role
from annotation.models import Study
from annotation.studies.label_import.foreign_labels import Format
from annotation.studies.label_import.import_labels import import_labels
from annotation.studies.plan import plan
from tests import factories, studies

pytestmark = pytest.mark.django_db


def told(*args: str, **options: Any) -> str:
    out = StringIO()
    call_command("study", *args, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def test_a_study_is_made_and_started_from_a_file(tmp_path: Path) -> None:
    build = factories.said(factories.opened(), (1, 0, 1, 0, 1, 0, 1, 0, 1))
    factories.ada()
    raters = [
        {"user": factories.person(name, Role.EXPERT).username, "condition": "reading", "capacity": 9}
        for name in ("ruth", "sam", "tess")
    ]
    file = tmp_path / "study.json"
    file.write_text(
        json.dumps(
            {
                "name": "first",
                "builds": [build.pk],
                "sample": {"size": 3},
                "conditions": [{"kind": "reading"}],
                "reference": "reading",
                "raters": raters,
            }
        )
    )
    assert "3 pairs of 3 queries, 9 ratings" in told("new", str(file), "--as", "ada")
    assert "first  draft  3 pairs  no ratings yet" in told("list")
    assert told("start", "first", "--as", "ada") == "first runs\n"
    assert "first  running  3 pairs  0 of 9 ratings" in told("list")
    assert Study.objects.get().state == "running"


def test_plan_and_ratings_are_printed() -> None:
    study = studies.study("first")
    studies.rated(studies.rater("ruth", study), 1)
    plan.freeze_plan(study)
    assert hashlib.sha256(told("plan", "first").encode()).hexdigest() == study.plan_hash
    assert told("plan", "first", "--markdown").startswith("# Plan of first")
    assert told("export", "first").startswith("pair,query,")
    assert json.loads(told("export", "first", "--json"))[0]["rater"] == "R01"
    assert told("export", "first", "skips").startswith("pair,query,")
    assert json.loads(told("export", "first", "decisions", "--json")) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "nested too deeply"),
        (" " * 10_000_001, "more than 10,000,000 bytes"),
        ("{", "can't be read"),
        ("{}", "is no study"),
        ('{"name": 3}', "is no study"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, text: str, why: str) -> None:
    factories.ada()
    file = tmp_path / "study.json"
    file.write_text(text)
    with pytest.raises(CommandError, match=why):
        told("new", str(file), "--as", "ada")


def test_only_admins_make_studies(tmp_path: Path) -> None:
    factories.erin()
    with pytest.raises(CommandError, match="no admin"):
        told("new", str(tmp_path / "none.json"), "--as", "erin")
    with pytest.raises(CommandError, match="no study called"):
        told("plan", "nothing")


@pytest.mark.parametrize(
    "args",
    [
        ("plan", "theirs"),
        ("plan", "theirs", "--needed"),
        ("plan", "first study", "--simulate", "--pilot", "theirs"),
        ("paper", "theirs", "nowhere"),
        ("start", "theirs", "--as", "ada"),
        ("score", "theirs", "--as", "ada"),
    ],
)
def test_labels_from_elsewhere_have_their_agreement_only(args: tuple[str, ...]) -> None:
    studies.study()
    Study.objects.create(name="theirs", kind=Study.Kind.IMPORTED, state=Study.State.CLOSED, planned_pairs=3)
    with pytest.raises(CommandError, match="agreement report theirs"):
        told(*args)


def test_labels_from_elsewhere_are_printed_as_they_came(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("item,label,notes\na,1,why\na,0.5,\n")
    import_labels(file, "theirs", Format.CSV)
    assert "theirs  closed  1 item  2 labels from elsewhere" in told("list")
    header, first, second = told("export", "theirs").splitlines()
    assert header.startswith("row,item,rater,label,notes,")
    assert first.startswith("1,a,,1,why,") and second.startswith("2,a,,0.5,,")
    assert told("export", "theirs", "labels") == told("export", "theirs")


@pytest.mark.parametrize("part", ["ratings", "skips", "decisions"])
def test_labels_from_elsewhere_have_no_such_part(part: str) -> None:
    studies.study("first")
    Study.objects.create(name="theirs", kind=Study.Kind.IMPORTED, state=Study.State.CLOSED, planned_pairs=3)
    with pytest.raises(CommandError, match=f"has no {part}; it has labels"):
        told("export", "theirs", part)
    with pytest.raises(CommandError, match="has no labels; it has ratings"):
        told("export", "first", "labels")
