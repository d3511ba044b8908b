"""What a program claims is stored whatever is in it, on every database alike."""

from __future__ import annotations

import pytest

from annotation.models import Step
from annotation.stages import Stage
from sandbox.reports.report import Outcome
from tests import factories
from tests.annotation.builds.pipeline.test_advance import UNCLEAR, WRITTEN, Fresh, Make, go
from tests.factories import a_report
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db

NUL = "a\x00b\ud800c"
VISIBLE = "a␀b⟨U+D800⟩c"


def test_a_module_of_any_name_may_be_missing(tools_with: Make, fresh: Fresh) -> None:
    name = NUL + "x" * 1000
    missing = a_report(Outcome.ERRORED, assertions=(), missing_module=name, detail=name)
    tools, _ = tools_with(UNCLEAR, WRITTEN, box=FakeSandbox(missing))
    case = go(factories.cases(factories.opened())[0], fresh, tools, 3)
    assert case.stage == Stage.FIXING
    assert case.missing_module.startswith(VISIBLE)
    assert len(case.missing_module) == 200
    assert Step.objects.get(case=case, after=Stage.FIXING).note.startswith(VISIBLE)
