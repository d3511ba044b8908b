"""What a container is allowed, as far as no engine is needed to see it; the rest is in test_backends.py."""

import re
from importlib.resources import files

from sandbox.backends.containers import (
    Shape,
    build_arguments,
    install_container,
    run_container,
    run_identity,
)
from sandbox.host_users import USERS
from sandbox.pip_install import PipSettings
from sandbox.program import Limits

SHAPE = Shape.of(Limits(processes=8))


def test_a_program_has_the_processes_of_its_limits_and_the_harness_one() -> None:
    assert run_container(SHAPE, "{}", "")["pids_limit"] == 9


def test_the_threads_of_gvisors_kernel_are_not_the_programs() -> None:
    assert run_container(SHAPE, "{}", "runsc")["pids_limit"] >= 1024 + 8
    assert install_container("{}", (), "runsc")["pids_limit"] >= 1024


def test_a_run_has_the_user_that_it_was_given_and_nothing_but_its_folders_to_write_to() -> None:
    allowed = run_container(Shape.of(Limits(tmp_mb=64)), "{}", "")
    assert run_identity(60_900)["user"] == "60900:65534"
    assert allowed["tmpfs"]["/dev/mqueue"].startswith("ro,")
    assert "size=67108864," in allowed["tmpfs"]["/tmp"] and allowed["shm_size"] == 32 << 20


def test_the_image_names_every_user_of_the_usual_range() -> None:
    text = files("sandbox.image").joinpath("Dockerfile").read_text()
    assert f"seq {USERS[0]} {USERS[-1]} |" in text


def test_an_image_is_built_with_settings_that_its_history_does_not_keep() -> None:
    settings = {
        "PIP_INDEX_URL": "https://robot:secret@index.example.org/simple",
        "PIP_FIND_LINKS": "/opt/wheels",
        "PIP_EXTRA_INDEX_URL": "file:///opt/index",
        "PIP_CERT": "/opt/ca.crt",
        "HTTPS_PROXY": "http://robot:secret@proxy.example.org",
    }
    given = build_arguments(PipSettings(settings), certificate=True)
    assert given == {
        "HTTPS_PROXY": settings["HTTPS_PROXY"],
        "FTP_PROXY": (f"[global]\nindex-url = {settings['PIP_INDEX_URL']}\ncert = /image/pip-ca.crt\n"),
    }
    assert "cert" not in build_arguments(PipSettings(settings), certificate=False)["FTP_PROXY"]
    text = files("sandbox.image").joinpath("Dockerfile").read_text()
    # What is declared is kept in the history, the value too.
    assert not re.search("^(ARG|ENV)", text, re.MULTILINE)
