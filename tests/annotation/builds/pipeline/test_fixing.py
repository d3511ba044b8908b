"""What a program is missing is installed by table or by the fixer; anything else goes to the arbiter."""

from __future__ import annotations

import pytest

from annotation.models import Tally
from annotation.stages import Stage
from sandbox.reports.report import Outcome
from tests.annotation.builds.pipeline.test_advance import NO, UNCLEAR, WRITTEN, YES, Fresh, Make, go, one_case
from tests.factories import a_report
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db


def test_a_missing_module_is_installed_by_table_then_by_the_fixer(tools_with: Make, fresh: Fresh) -> None:
    missing = a_report(Outcome.ERRORED, assertions=(), missing_module="bs4", detail="no module named bs4")
    refused = a_report(Outcome.DEPENDENCY_REFUSED, assertions=(), detail="not to be had")
    box = FakeSandbox(missing, refused, a_report())
    tools, llm = tools_with(
        UNCLEAR, WRITTEN, {"commands": ["pip install beautifulsoup4==4.12.3"]}, YES, box=box
    )
    case = go(one_case(), fresh, tools, 3)
    assert (case.stage, case.missing_module) == (Stage.FIXING, "bs4")
    case = go(case, fresh, tools, 1)
    assert case.dependencies == ["beautifulsoup4"]
    assert [r.agent for r in llm.calls] == ["screener", "test_writer"]
    case = go(case, fresh, tools, 2)
    assert case.dependencies == ["beautifulsoup4==4.12.3"]
    case = go(case, fresh, tools, 2)
    assert (case.stage, case.label) == (Stage.SETTLED, 1)
    assert Tally.objects.get(build=case.build).programs == 1


def test_several_commands_install_what_they_name_and_nothing_else(tools_with: Make, fresh: Fresh) -> None:
    missing = a_report(Outcome.ERRORED, assertions=(), missing_module="bs4", detail="no module named bs4")
    commands = ["pip install beautifulsoup4==4.12.3", "pip install lxml"]
    tools, _ = tools_with(UNCLEAR, WRITTEN, {"commands": commands}, YES, box=FakeSandbox(missing))
    case = go(one_case(), fresh, tools, 6)
    assert case.dependencies == ["beautifulsoup4==4.12.3", "lxml"]


def test_a_module_of_python_2_is_searched_for_nowhere(tools_with: Make, fresh: Fresh) -> None:
    missing = a_report(Outcome.ERRORED, assertions=(), missing_module="urllib2")
    tools, llm = tools_with(UNCLEAR, WRITTEN, NO, box=FakeSandbox(missing))
    case = go(one_case(), fresh, tools, 3)
    assert case.stage == Stage.ARBITRATING
    assert "urllib.request took its place" in list(case.steps.values_list("note", flat=True))[-1]
    assert [request.agent for request in llm.calls] == ["screener", "test_writer"]


@pytest.mark.parametrize(
    "command",
    ["pip install git+https://x/y", "pip install --index-url http://x y", "rm -rf /", "pip install a; b"],
)
def test_a_suggestion_that_is_no_plain_install_goes_to_the_arbiter_as_refused(
    command: str, tools_with: Make, fresh: Fresh
) -> None:
    missing = a_report(Outcome.ERRORED, assertions=(), missing_module="bs4")
    tools, _ = tools_with(UNCLEAR, WRITTEN, {"commands": [command]}, box=FakeSandbox(missing))
    case = go(one_case(), fresh, tools, 5)
    case = go(case, fresh, tools, 1)
    assert case.stage == Stage.ARBITRATING
    assert list(case.steps.values_list("event", flat=True))[-1] == "refused"
