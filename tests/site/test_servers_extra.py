"""One machine needs no package of the extra `servers`; what does need one says how to install it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVED = """
import importlib.util, sys
gone = {"celery", "kombu", "redis", "channels_redis", "psycopg", "psycopg_pool"}
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in gone else find(name, package)
sys.modules.update(dict.fromkeys(gone))  # an import of one of these fails
import cosqa_site.asgi, cosqa_site.urls
from annotation.jobs.wake_up import wake_workers
from cosqa_site.health import check_broker
wake_workers()
assert list(check_broker()) == []
print("served")
"""


def serve(home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """What loading the server's application says where the packages are not installed."""
    services = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL"}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("COSQA_") and k not in services}
    told = kept | {"COSQA_HOME": str(home), "DJANGO_SETTINGS_MODULE": "cosqa_site.settings", **variables}
    command = [sys.executable, "-c", SERVED]
    return subprocess.run(
        command, cwd=ROOT, env=told, capture_output=True, text=True, timeout=300, check=False
    )


def test_a_server_on_one_machine_loads_no_package_of_several(tmp_path: Path) -> None:
    ended = serve(tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "served\n"


@pytest.mark.parametrize(
    ("variable", "value", "package"),
    [
        ("DATABASE_URL", "postgres://me@127.0.0.1/none", "psycopg"),
        ("REDIS_URL", "redis://127.0.0.1:1/0", "celery"),
        ("CELERY_BROKER_URL", "redis://127.0.0.1:1/0", "celery"),
    ],
)
def test_a_variable_of_several_machines_names_the_extra(
    variable: str, value: str, package: str, tmp_path: Path
) -> None:
    ended = serve(tmp_path, **{variable: value})
    assert ended.returncode != 0
    assert f"needs {package}: pip install 'cosqa-workbench[servers]'" in ended.stderr
