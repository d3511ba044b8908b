"""A dump has every row of its tables, as it is stored."""

from __future__ import annotations

import gzip
import hashlib
import json
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import ApiToken, Case, LLMCall, Price
from cosqa_site.dump.manifest import Manifest
from cosqa_site.dump.tables import EXPORTED
from retrieval.models import TextBody
from tests import factories
from tests.site.dump.dumps import Bar, dump, rows_of

pytestmark = pytest.mark.django_db(transaction=True)


def dumped(tmp_path: Path, bar: Bar | None = None) -> Manifest:
    return dump(tmp_path / "dump", tmp_path / "home", bar)


def test_each_table_has_a_file_with_as_many_rows_and_its_hash(tmp_path: Path) -> None:
    factories.settled(factories.cases(factories.opened())[0], 1)
    bar = Bar()
    manifest = dumped(tmp_path, bar)
    assert manifest.tables.keys() == EXPORTED
    assert manifest.tables["annotation.case"].rows == Case.objects.count() == 9
    for name, table in manifest.tables.items():
        content = (tmp_path / "dump" / table.file).read_bytes()
        assert hashlib.sha256(content).hexdigest() == table.sha256, name
        assert len(rows_of(tmp_path / "dump", name)) == table.rows, name
    assert bar.done == bar.total == manifest.rows > 0


def test_the_manifest_says_what_made_the_dump_and_what_it_lacks(tmp_path: Path) -> None:
    manifest = dumped(tmp_path)
    told = json.loads((tmp_path / "dump" / "everything.json").read_text())
    assert (told["format"], told["version"]) == ("cosqa-workbench everything", 1)
    assert told["database"] in ("sqlite", "postgresql")
    assert "annotation.0001_initial" in told["migrations"]
    assert told["left_out"]["annotation.apitoken"].startswith("a secret")
    assert told["tables"]["auth.group"]["rows"] == manifest.tables["auth.group"].rows


def test_values_are_kept_to_the_last_digit(tmp_path: Path) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    price = Price.objects.create(
        model="m", effective_from=moment, input=Decimal("0.1500"), output=Decimal("2.5000"), note="é “x”\n"
    )
    factories.queries(["a query"])
    dumped(tmp_path)
    (row,) = rows_of(tmp_path / "dump", "annotation.price")
    assert row["id"] == price.pk
    assert row["effective_from"] == "2026-01-02T03:04:05.678901+00:00"
    assert Decimal(row["input"]) == Decimal("0.15")
    assert isinstance(row["input"], str)
    assert row["cache_read"] is None
    assert row["note"] == "é “x”\n"
    (body,) = rows_of(tmp_path / "dump", "retrieval.textbody")
    assert body["digest"] == TextBody.objects.get().digest


def test_rows_point_to_others_by_their_keys_and_names_of_columns(tmp_path: Path) -> None:
    case = factories.cases(factories.opened())[0]
    call = factories.llm_call(case, "screener", {"verdict": "match"})
    dumped(tmp_path)
    (row,) = rows_of(tmp_path / "dump", "annotation.llmcall")
    assert row["build"] == case.build_id
    assert row["reply"] == LLMCall.objects.get(pk=call.pk).reply_id


def test_no_password_and_no_token_is_in_a_dump(tmp_path: Path) -> None:
    ada = factories.ada()
    token, secret = ApiToken.objects.issue(ada, "laptop")
    dumped(tmp_path)
    whole = b"".join(gzip.decompress(path.read_bytes()) for path in (tmp_path / "dump").glob("*.jsonl.gz"))
    assert b'"username":"ada"' in whole
    for hidden in (ada.password, secret, token.digest):
        assert hidden.encode() not in whole


def test_equal_rows_make_equal_files(tmp_path: Path) -> None:
    factories.opened()
    first = dumped(tmp_path)
    (tmp_path / "dump").rename(tmp_path / "first")
    assert dumped(tmp_path) == first


def test_files_that_people_put_beside_the_database_are_copied(tmp_path: Path) -> None:
    for name in ("recorded/replies.jsonl", "quality/known/pairs.jsonl", "vectors/many.npy", "secret-key"):
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    manifest = dumped(tmp_path)
    assert manifest.files.keys() == {"recorded/replies.jsonl", "quality/known/pairs.jsonl"}
    copied = tmp_path / "dump" / "files" / "recorded" / "replies.jsonl"
    assert copied.read_text() == "recorded/replies.jsonl"
    assert manifest.files["recorded/replies.jsonl"].sha256 == hashlib.sha256(copied.read_bytes()).hexdigest()


def test_the_command_tells_what_it_wrote(tmp_path: Path, settings: Any) -> None:
    settings.COSQA_HOME = tmp_path / "home"
    factories.queries(["a query"])
    told = StringIO()
    call_command("export", "everything", str(tmp_path / "dump"), stdout=told)
    assert (
        f"rows of {len(EXPORTED)} tables, and 0 files of the home, in {tmp_path / 'dump'}" in told.getvalue()
    )


@pytest.mark.parametrize("name", ["", "/proc/no/where", "x" * 300])
def test_the_command_refuses_a_folder_that_can_not_be(name: str) -> None:
    with pytest.raises(CommandError):
        call_command("export", "everything", name)


def test_the_command_still_exports_benchmarks(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no benchmark"):
        call_command("export", "release", "nothing", str(tmp_path / "out"))
