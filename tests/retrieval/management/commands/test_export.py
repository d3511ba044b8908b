"""The command `export`: what it says of putting a folder on the hub."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from retrieval.management.commands.export import format_upload_command
from tests.retrieval.exporting.conftest import benchmark

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("form", "published"), [("huggingface", True), ("beir", True), ("release", False)])
def test_a_folder_with_a_card_comes_with_the_command_that_publishes_it(
    tmp_path: Path, form: str, published: bool
) -> None:
    made, said = benchmark(), io.StringIO()
    call_command("export", form, made.name, str(tmp_path / "out"), stdout=io.StringIO(), stderr=said)
    assert ("hf upload OWNER/" in said.getvalue()) is published


def test_names_become_names_of_the_hub_and_paths_are_quoted() -> None:
    command = format_upload_command("plus <i>; rm -rf", Path("/tmp/a folder"))
    assert command == "hf upload OWNER/plus-i-rm-rf '/tmp/a folder' --repo-type dataset"


def test_the_hubs_own_command_takes_it(tmp_path: Path) -> None:
    """Offline, it ends where it would make the repository; a wrong option ends with a word on usage."""
    (tmp_path / "README.md").write_text("# plus\n")
    words = shlex.split(format_upload_command("plus", tmp_path))
    assert words[0] == "hf"
    program = str(Path(sys.executable).with_name("hf"))
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "HF_HOME": str(tmp_path),
    }
    ended = subprocess.run(
        [program, *words[1:]], check=False, env=environment, capture_output=True, text=True, timeout=200
    )
    assert "offline mode is enabled" in ended.stderr + ended.stdout
