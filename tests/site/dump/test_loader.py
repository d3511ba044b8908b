"""What a dump holds is loaded into a new home as it was: all of it, or nothing."""

from __future__ import annotations

import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import IntegrityError

from annotation.accounts.roles import Role, role_of
from annotation.models import Build, Canary, Case, Extension, ProjectTally
from cosqa_site.dump import renames
from cosqa_site.dump.loader import HomeInUse
from cosqa_site.dump.reader import BadDump
from cosqa_site.dump.tables import columns_of, tables_of_dump
from cosqa_site.dump.values import CONVERTERS
from retrieval.models import Annotator, Benchmark, Text
from tests import factories
from tests.site.dump.dumps import Bar, change_manifest, change_rows, dump, flush, load, rows_of, write_rows
from tests.site.samples import samples

pytestmark = pytest.mark.django_db(transaction=True)

PLAIN = {
    "BigAutoField", "AutoField", "BigIntegerField", "IntegerField", "PositiveBigIntegerField",
    "PositiveIntegerField", "PositiveSmallIntegerField", "SmallIntegerField", "BooleanField", "FloatField",
    "CharField", "TextField", "JSONField", "ForeignKey", "OneToOneField",
}  # fmt: skip
"""Kinds of columns that are in JSON what they are in Python."""


@pytest.fixture(scope="module")
def first(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with its dump, which has rows in most tables; the tables are empty again."""
    home = tmp_path_factory.mktemp("first")
    (home / "recorded").mkdir()
    (home / "recorded" / "replies.jsonl").write_text("{}\n")
    with django_db_blocker.unblock():
        case = factories.cases(factories.opened())[0]
        factories.llm_call(case, "screener", {"verdict": "match"})
        samples(factories.examined(case, 1))
        dump(home / "dump", home)
        flush()
    return home


@pytest.fixture
def full(first: Path, tmp_path: Path) -> Path:
    """A copy of the dump, to be changed."""
    return shutil.copytree(first / "dump", tmp_path / "dump")


def is_empty() -> bool:
    return not any(table._base_manager.exists() for table in tables_of_dump().values())


def test_what_was_loaded_is_exported_again_to_the_same_files(full: Path, tmp_path: Path) -> None:
    bar = Bar()
    manifest = load(full, tmp_path / "second", bar)
    assert bar.done == bar.total == manifest.rows
    assert sum(table.rows > 0 for table in manifest.tables.values()) > 50
    assert dump(tmp_path / "again", tmp_path / "second") == manifest
    for table in manifest.tables.values():
        assert (tmp_path / "again" / table.file).read_bytes() == (full / table.file).read_bytes(), table.file


def test_rows_that_refuse_to_be_saved_again_are_loaded(full: Path, tmp_path: Path) -> None:
    load(full, tmp_path / "second")
    assert Benchmark.objects.get().name == "apart"


def test_files_beside_the_database_are_put_back(full: Path, tmp_path: Path) -> None:
    load(full, tmp_path / "second")
    assert (tmp_path / "second" / "recorded" / "replies.jsonl").read_text() == "{}\n"


def test_accounts_keep_their_role_and_have_no_password(full: Path, tmp_path: Path) -> None:
    load(full, tmp_path / "second")
    ada = User.objects.get(username="ada")
    assert not ada.has_usable_password()
    assert role_of(ada) is Role.ADMIN


def test_new_rows_get_keys_after_those_that_were_loaded(full: Path, tmp_path: Path) -> None:
    load(full, tmp_path / "second")
    last = Text.objects.latest("pk").pk
    assert Text.objects.keep("a text that is new").pk > last
    assert User.objects.create(username="new").groups.count() == 0


def test_rows_that_migrations_make_are_replaced(full: Path, tmp_path: Path) -> None:
    for role in Role:
        Group.objects.create(name=role.value)
    ProjectTally.objects.now()
    load(full, tmp_path / "second")
    assert Group.objects.count() == len(rows_of(full, "auth.group"))


@pytest.mark.parametrize("kind", ["annotator", "spent", "group"])
def test_a_home_in_use_is_refused_and_left_alone(full: Path, tmp_path: Path, kind: str) -> None:
    if kind == "annotator":
        Annotator.objects.create(kind=Annotator.Kind.ORIGINAL, name="ours", version="1")
    elif kind == "spent":
        ProjectTally.objects.book(spent=1)
    else:
        Group.objects.create(name="friends")
    with pytest.raises(HomeInUse, match="This home is in use: there are rows in"):
        load(full, tmp_path / "second")
    assert not Build.objects.exists()


def test_a_file_that_is_there_is_not_replaced(full: Path, first: Path) -> None:
    with pytest.raises(HomeInUse, match="is there already"):
        load(full, first)
    assert is_empty()


def test_a_changed_file_is_refused(full: Path, tmp_path: Path) -> None:
    with (full / "retrieval.text.jsonl.gz").open("ab") as file:
        file.write(b" ")
    with pytest.raises(BadDump, match=r"retrieval.text.jsonl.gz was changed: its sha256 is"):
        load(full, tmp_path / "second")
    assert is_empty()


def test_a_missing_file_is_refused(full: Path, tmp_path: Path) -> None:
    (full / "files" / "recorded" / "replies.jsonl").unlink()
    with pytest.raises(BadDump, match=r"replies.jsonl can't be read \(No such file"):
        load(full, tmp_path / "second")


@pytest.mark.parametrize("path", ["../secret-key", "recorded/../../secret-key", "/etc/passwd", "secret-key"])
def test_files_are_written_nowhere_else(full: Path, tmp_path: Path, path: str) -> None:
    change_manifest(full, lambda told: told.update(files={path: {"bytes": 1, "sha256": "0" * 64}}))
    with pytest.raises(BadDump, match="which is none of a home"):
        load(full, tmp_path / "second")


def test_rows_are_read_from_nowhere_else(full: Path, tmp_path: Path) -> None:
    change_manifest(full, lambda told: told["tables"]["auth.user"].update(file="../auth.user.jsonl.gz"))
    with pytest.raises(BadDump, match="names the file"):
        load(full, tmp_path / "second")


def test_another_number_of_rows_is_refused(full: Path, tmp_path: Path) -> None:
    change_manifest(full, lambda told: told["tables"]["annotation.case"].update(rows=8))
    with pytest.raises(BadDump, match=r"annotation.case.jsonl.gz has 9 rows, not 8"):
        load(full, tmp_path / "second")
    assert is_empty()


def test_a_row_that_points_to_nothing_is_refused(full: Path, tmp_path: Path) -> None:
    change_rows(full, "annotation.step", lambda row: row.update(case=10**6))
    with pytest.raises(IntegrityError):
        load(full, tmp_path / "second")
    assert is_empty()


@pytest.mark.parametrize("version", [0, 2, None, "1"])
def test_an_unknown_version_of_the_format_is_refused(full: Path, tmp_path: Path, version: Any) -> None:
    change_manifest(full, lambda told: told.update(version=version))
    with pytest.raises(BadDump, match="Load it with the release that wrote it"):
        load(full, tmp_path / "second")


def test_an_unknown_table_is_refused(full: Path, tmp_path: Path) -> None:
    change_manifest(full, lambda told: told["tables"].update(old=told["tables"]["annotation.case"]))
    with pytest.raises(BadDump, match="has a table old, which this release does not know"):
        load(full, tmp_path / "second")


def test_an_unknown_column_is_refused(full: Path, tmp_path: Path) -> None:
    change_rows(full, "annotation.build", lambda row: row.update(old=1))
    with pytest.raises(BadDump, match=r"annotation\.build has columns that this release does not know: old"):
        load(full, tmp_path / "second")


def test_a_missing_column_is_refused_unless_it_has_a_default(full: Path, tmp_path: Path) -> None:
    change_rows(full, "annotation.build", lambda row: row.pop("finished_at"))
    load(full, tmp_path / "second")
    assert not Build.objects.exclude(finished_at=None).exists()
    flush()
    change_rows(full, "annotation.build", lambda row: row.pop("name"))
    with pytest.raises(BadDump, match=r"annotation\.build lacks the column name"):
        load(full, tmp_path / "third")


def test_a_renamed_table_and_column_are_found(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_rows(full, "annotation.case", lambda row: row.update(place=row.pop("rank")))
    (full / "annotation.case.jsonl.gz").rename(full / "annotation.job.jsonl.gz")

    def rename(told: dict[str, Any]) -> None:
        told["tables"]["annotation.job"] = told["tables"].pop("annotation.case")
        told["tables"]["annotation.job"]["file"] = "annotation.job.jsonl.gz"

    change_manifest(full, rename)
    monkeypatch.setattr(renames, "RENAMED_TABLES", {"annotation.job": "annotation.case"})
    monkeypatch.setattr(renames, "RENAMED", {"annotation.case": {"place": "rank"}})
    load(full, tmp_path / "second")
    ranks = [row["place"] for row in rows_of(full, "annotation.job")]
    assert list(Case.objects.order_by("pk").values_list("rank", flat=True)) == ranks


def split_canaries(full: Path) -> None:
    """Have the dump's canaries as release 0.1.0 wrote them: a table for builds, and one for extensions."""
    [row] = rows_of(full, "annotation.canary")
    common = {name: row[name] for name in ("seed", "drawn", "pairs", "done_at", "decided_at", "decided_by")}
    own = {"spent": 70, "build": row["build"], "rest_opened": True}
    further = {"spent": 9, "extension": row["extension"], "began": 70, "last_call": 3, "before": {"cost": 8}}
    write_rows(full, "annotation.canary", [common | own])
    write_rows(full, "annotation.extensioncanary", [common | further])


def test_the_two_tables_of_canaries_of_0_1_0_are_loaded_into_one(full: Path, tmp_path: Path) -> None:
    split_canaries(full)
    load(full, tmp_path / "second")
    extension = Extension.objects.get()
    own = Canary.objects.of_whole_build(extension.build).get()
    assert (own.seed, own.pairs, own.spent, own.rest_opened, own.before) == (7, 1, 70, True, None)
    further = Canary.objects.get(extension=extension)
    assert (further.build, further.seed, further.spent, further.rest_opened) == (extension.build, 7, 9, False)
    assert (further.began, further.last_call, further.before) == (70, 3, {"cost": 8})


def test_a_row_that_is_missing_from_one_of_two_tables_is_noticed(full: Path, tmp_path: Path) -> None:
    split_canaries(full)
    change_manifest(full, lambda told: told["tables"]["annotation.extensioncanary"].update(rows=2))
    expected = r"annotation.canary.jsonl.gz and annotation.extensioncanary.jsonl.gz have 2 rows, not 3"
    with pytest.raises(BadDump, match=expected):
        load(full, tmp_path / "second")
    assert is_empty()


def test_a_column_that_is_looked_up_needs_what_points_there(full: Path, tmp_path: Path) -> None:
    split_canaries(full)
    change_rows(full, "annotation.extensioncanary", lambda row: row.pop("extension"))
    with pytest.raises(BadDump, match=r"annotation\.canary lacks the column build"):
        load(full, tmp_path / "second")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "cosqa-workbench export 1"}'])
def test_a_folder_that_is_no_dump_is_refused(tmp_path: Path, content: str) -> None:
    if content:
        (tmp_path / "everything.json").write_text(content)
    with pytest.raises(BadDump, match="dump"):
        load(tmp_path, tmp_path / "second")


def test_the_command_tells_what_it_loaded_and_what_accounts_lack(
    full: Path, tmp_path: Path, settings: Any
) -> None:
    settings.COSQA_HOME = tmp_path / "second"
    told = StringIO()
    call_command("import", "everything", str(full), stdout=told)
    assert "            9  annotation.case\n" in told.getvalue()
    assert "rows loaded, all checked against the dump" in told.getvalue()
    assert "cosqa admin account NAME --new-password" in told.getvalue()


@pytest.mark.parametrize("name", ["", "no/where", "a\0b"])
def test_the_command_refuses_what_is_no_dump(name: str) -> None:
    with pytest.raises(CommandError, match=r"no dump|no name"):
        call_command("import", "everything", name)


def test_the_command_says_that_the_database_refuses_a_row(full: Path, tmp_path: Path, settings: Any) -> None:
    settings.COSQA_HOME = tmp_path / "second"
    change_rows(full, "annotation.step", lambda row: row.update(case=10**6))
    with pytest.raises(CommandError, match="Nothing was loaded, as the database refuses a row"):
        call_command("import", "everything", str(full))


def test_transactions_after_a_load_check_their_rows_again(full: Path, tmp_path: Path) -> None:
    load(full, tmp_path / "second")
    case = Case.objects.filter(pk=Case.objects.earliest("pk").pk)
    with pytest.raises(IntegrityError):
        case.update(pair_id=10**6)


def test_each_kind_of_column_has_a_way_into_json_and_back() -> None:
    """A new kind has to be looked at: does it come back as it was?"""
    kinds = {
        field.get_internal_type()
        for table in tables_of_dump().values()
        for field in columns_of(table)
        if not isinstance(field, tuple(CONVERTERS))
    }
    assert kinds <= PLAIN
