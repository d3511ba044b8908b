"""Encoders of spec files by name: in minings, runs and lists, and what is refused under a used name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from annotation.builds.launch import launcher
from annotation.builds.launch.order import LaunchRefused, Order
from retrieval.encoders import UnknownEncoder
from retrieval.encoders.base import MissingWeights
from retrieval.encoders.dense.spec_encoder import SpecifiedEncoder
from retrieval.mining import known_encoders, perform_mining
from retrieval.mining.known_encoders import BadSpec, OtherSpec, use_spec_files
from retrieval.models import EncoderSpec, Mining, Run
from tests import factories
from tests.retrieval.encoders.conftest import tiny_models  # noqa: F401
from tests.retrieval.management.commands.test_evaluate import small  # noqa: F401

pytestmark = pytest.mark.django_db
WORDS = ("sort rows", "sort dates")
CODES = tuple(f"def sort_{word}({word}):\n    return sorted({word})\n" for word in ("rows", "words", "dates"))


@pytest.fixture
def home(tmp_path: Path, settings: Settings) -> Path:
    """The folder of spec files of an installation of its own."""
    settings.COSQA_HOME = tmp_path / "home"
    folder = tmp_path / "home" / "encoders"
    folder.mkdir(parents=True)
    return folder


def write(folder: Path, model: Path, file: str = "mine", **more: Any) -> Path:
    path = folder / f"{file}.json"
    path.write_text(json.dumps({"folder": str(model), "pooling": "mean", "passage_max_tokens": 64, **more}))
    return path


@pytest.fixture
def model(tiny_models: dict[str, Path]) -> Path:  # noqa: F811
    return tiny_models["minilm"]


def mining(**columns: Any) -> Mining:
    wanted = {"encoders": ["mine", "bow"], "k": 2, "state": Mining.State.WAITING, **columns}
    return factories.mining(factories.queries(WORDS), factories.snippets(CODES), **wanted)


def test_a_file_in_the_folder_is_an_encoder_by_its_name(home: Path, model: Path) -> None:
    write(home, model)
    found = known_encoders.find_encoder("mine")
    assert isinstance(found, SpecifiedEncoder) and found.folder == model
    assert known_encoders.list_encoder_names()[-1] == "mine" and known_encoders.why_missing("mine") is None
    with pytest.raises(UnknownEncoder, match=r"or describe it in .*encoders/NAME.toml"):
        known_encoders.find_encoder("another")


def test_a_file_of_the_command_line_counts_while_it_runs(home: Path, tmp_path: Path, model: Path) -> None:
    path = write(tmp_path, model)
    with use_spec_files([path]):
        assert known_encoders.find_encoder("mine").name == "mine"
    with pytest.raises(UnknownEncoder):
        known_encoders.find_encoder("mine")


def test_names_of_the_registry_are_not_given_away(home: Path, tmp_path: Path, model: Path) -> None:
    with (
        pytest.raises(BadSpec, match="'e5' is the name of an encoder of the registry"),
        use_spec_files([write(tmp_path, model, "e5")]),
    ):
        pass
    write(home, model, "e5")
    assert not isinstance(known_encoders.find_encoder("e5"), SpecifiedEncoder)


def test_a_file_that_describes_none_is_listed_with_what_is_wrong(home: Path, model: Path) -> None:
    write(home, model, "broken", pooling="average")
    write(home, model, "renamed", name="other")
    missing = {one.name: one.missing for one in known_encoders.to_choose()}
    assert "pooling: Input should be 'cls'" in missing["broken"]
    assert "says the name 'other'" in missing["renamed"]


def test_a_mining_by_a_spec_stores_all_of_it(home: Path, tmp_path: Path, model: Path) -> None:
    write(home, model, query_prefix="query: ")
    row = mining()
    assert perform_mining(row, tmp_path / "vectors") == 4
    row.refresh_from_db()
    stored = EncoderSpec.objects.get(name="mine")
    assert row.identities is not None
    assert stored.spec["query_prefix"] == "query: " and stored.weights in row.identities["mine"]
    assert '"query_prefix":"query: "' in row.identities["mine"] and row.revisions == {}
    told = [json.loads(file.read_text())["encoder"] for file in (tmp_path / "vectors").glob("*/encoder.json")]
    assert set(told) == {row.identities["mine"]}


def test_another_spec_of_a_name_that_was_used_is_refused(home: Path, tmp_path: Path, model: Path) -> None:
    write(home, model)
    perform_mining(mining(), tmp_path / "vectors")
    write(home, model, pooling="cls")
    with pytest.raises(OtherSpec, match="pooling was 'mean' and is 'cls'"):
        known_encoders.find_encoder("mine")
    assert "pooling was 'mean'" in (known_encoders.why_missing("mine") or "")
    with pytest.raises(OtherSpec):
        perform_mining(mining(), tmp_path / "vectors")


def test_other_weights_under_the_name_are_refused(
    home: Path,
    tmp_path: Path,
    model: Path,
    tiny_models: dict[str, Path],  # noqa: F811
) -> None:
    write(home, model)
    perform_mining(mining(encoders=["mine"]), tmp_path / "vectors")
    write(home, tiny_models["unixcoder"])
    with pytest.raises(OtherSpec, match="its weights are not those that were used here by this name"):
        perform_mining(mining(encoders=["mine"]), tmp_path / "vectors")


def test_without_the_file_the_stored_spec_is_used(home: Path, tmp_path: Path, model: Path) -> None:
    """As on a worker's machine, or after somebody cleared up."""
    path = write(home, model)
    known_encoders.store_encoder_specs([known_encoders.find_encoder("mine")])
    path.unlink()
    assert perform_mining(mining(), tmp_path / "vectors") == 4


def test_an_order_stores_the_spec_and_a_bad_one_is_refused(home: Path, model: Path) -> None:
    write(home, model)
    order = Order("first", factories.queries(WORDS), factories.snippets(CODES), ("mine",))
    launcher.mining_of(order)
    assert EncoderSpec.objects.get().name == "mine"
    write(home, model, pooling="cls")
    with pytest.raises(LaunchRefused, match="Give this one a name of its own"):
        launcher.refuse_bad_encoders(("mine",))


def test_a_spec_that_never_worked_may_be_mended(home: Path, tmp_path: Path, model: Path) -> None:
    write(home, model, passage_max_tokens=512)
    row = mining(encoders=["mine"])
    with pytest.raises(MissingWeights, match="takes 300 tokens, but texts are cut at 512"):
        perform_mining(row, tmp_path / "vectors")
    assert not EncoderSpec.objects.exists()
    known_encoders.store_encoder_specs([known_encoders.find_encoder("mine")])  # as an order does
    write(home, model)
    with pytest.raises(OtherSpec):  # while the order stands
        known_encoders.find_encoder("mine")
    Mining.objects.filter(pk=row.pk).update(state=Mining.State.FAILED)
    assert perform_mining(row, tmp_path / "vectors") == 4
    assert EncoderSpec.objects.get().spec["passage_max_tokens"] == 64


def test_evaluate_takes_a_file_and_the_run_says_all_of_it(
    home: Path,
    tmp_path: Path,
    model: Path,
    small: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = str(write(tmp_path, model))
    call_command("evaluate", small, "--encoder", "mine", "--encoder-file", path, "--metrics", "mrr", "--json")
    assert list(json.loads(capsys.readouterr().out)) == ["mine"]
    run = Run.objects.get(system="mine")
    assert run.encoders == ["mine"] and '"pooling":"mean"' in run.options["identities"][0]
    write(tmp_path, model, pooling="max")
    with pytest.raises(CommandError, match="pooling was 'mean' and is 'max'"):
        call_command("evaluate", small, "--encoder", "mine", "--encoder-file", path)


def test_the_list_tells_what_a_spec_says(home: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(home, model, passage_prefix="passage: ")
    write(home, model, "broken", pooling="average")
    call_command("encoders", "mine", "broken")
    told = capsys.readouterr().out
    assert f"by its spec: {model}" in told and "a snippet begins with 'passage: '" in told
    assert "pooled by mean, cut at 128 and 64 tokens" in told
    assert "here: yes" in told and "pooling: Input should be" in told
    call_command("encoders", "mine", json=True)
    assert json.loads(capsys.readouterr().out)[0]["folder"] == str(model)


def test_the_commit_of_the_hub_is_noted(
    home: Path, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = "1c644c92ad3ba1efdad3f1451a637716616a20e8"
    cached = tmp_path / "models--a--b" / "snapshots" / commit
    cached.parent.mkdir(parents=True)
    cached.symlink_to(model, target_is_directory=True)
    monkeypatch.setattr("retrieval.encoders.dense.spec_encoder.hub_folder", lambda *asked: cached)
    (home / "mine.json").write_text(json.dumps({"hf_id": "a/b", "pooling": "cls", "passage_max_tokens": 32}))
    row = mining()
    perform_mining(row, tmp_path / "vectors")
    row.refresh_from_db()
    assert row.identities is not None
    assert row.revisions == {"mine": commit} and '"revision":"main"' in row.identities["mine"]


def test_a_hub_id_of_the_registry_is_that_encoder(home: Path) -> None:
    found = known_encoders.find_encoder("sentence-transformers/all-MiniLM-L6-v2")
    assert found.name == known_encoders.find_encoder("minilm").name


def test_a_folder_is_an_encoder_by_what_its_files_declare(home: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "My Model", tmp_path / "b" / "My Model"
    for folder in (first, second):
        folder.mkdir(parents=True)
    found, other = (known_encoders.find_encoder(str(folder)) for folder in (first, second))
    assert isinstance(found, SpecifiedEncoder)
    assert (found.told.folder, found.told.pooling) == (str(first), "declared")
    assert found.name.startswith("my-model-") and found.name != other.name


def test_another_hub_id_says_how_to_get_it(home: Path) -> None:
    missing = known_encoders.why_missing("BAAI/bge-small-en-v1.5")
    assert missing is not None and "hf download BAAI/bge-small-en-v1.5" in missing


@pytest.mark.parametrize("name", ["no/such/folder", "../etc", "a/b c", "minilm:/none"])
def test_what_is_neither_a_folder_nor_a_hub_id_is_no_spec(home: Path, name: str) -> None:
    assert known_encoders.spec_of_place(name) is None
