"""`python -m tests.e2e.judged FUNCTION`: what was done in studies, by hand, and rows of a few other pages.

FUNCTION is the id of a written function. Prints the ids that addresses need.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from annotation.models import Assignment, Study

OWN = "assert turned([1, 2, 3]) == [3, 2, 1]\nassert turned([]) == []\n"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
    django.setup()
    from cosqa_site.service import startup

    startup.prepare_database()
    ids = (
        split()
        | tested()
        | revealed()
        | draft()
        | canary()
        | extended()
        | connection()
        | webhook()
        | ran(int(sys.argv[1]))
    )
    print(json.dumps(ids))


def split() -> dict[str, int]:
    """A study whose raters are through, two with a test of their own, and part on its first pair."""
    from tests import studies
    from tests.e2e.rated import CODE, pairs

    study = studies.study("where raters part", pairs=pairs(CODE))
    for name, values in (("sara", (1, 1, 0)), ("saul", (0, 1, 0)), ("sven", (None, 1, 1))):
        rater = studies.rater(name, study)
        for sampled, value in zip(study.pairs.order_by("number"), values, strict=True):
            rating = studies.rated(rater, value, sampled)
            if sampled.number == 1:
                with_test(rating.assignment)
        rater.finished_at = rater.accepted_at
        rater.save()
    guideline = study.guideline.pk if study.guideline else 0
    return {"split": study.pk, "split_condition": studies.condition(study).pk, "guideline": guideline}


def with_test(given: Assignment) -> int:
    """The rater's own test of the pair with its run; the number of the run."""
    from annotation.models import ExecutionRequest, ProgramText, TestProgram
    from sandbox.reports.report import Outcome
    from tests import factories

    source = ProgramText.keep(f"{OWN}# {given.rater}\n")
    columns = {"pair": given.study_pair.pair, "author": given.rater, "assignment": given}
    program = TestProgram.objects.create(source=source, **columns)
    run = factories.execution(program, factories.a_report(Outcome.PASSED))
    asked = ExecutionRequest.objects.create(
        user=given.rater, program=program, assignment=given, state="done", execution=run
    )
    return asked.pk


def tested() -> dict[str, int]:
    """A pair that Rick has rated with a test, its strength and a call."""
    from annotation.models import CallAnswer, CallRequest, ExecutionRequest, Trial
    from sandbox.expression_call import Answer, CallOutcome
    from tests import studies

    study = of_rick("rated with a test", "own_tests")
    given = studies.rated(study.enrolments.get(), 1, study.pairs.get(number=1)).assignment
    run = ExecutionRequest.objects.get(pk=with_test(given))
    answer = Answer(CallOutcome.RETURNED, "[2, 1]", "list")
    kept = CallAnswer.objects.create(outcome=answer.outcome, seconds=0, text=answer.to_json())
    call = CallRequest.objects.create(
        user=given.rater, pair=given.study_pair.pair, assignment=given, expression="turned([1, 2])",
        state="done", answer=kept,
    )  # fmt: skip
    trial = Trial.objects.create(
        user=given.rater, program=run.program, snippet=run.program.pair.snippet, assignment=given,
        state="done", execution=run.execution,
    )  # fmt: skip
    return {
        "tested": study.pk,
        "own_run": run.pk,
        "own_call": call.pk,
        "own_program": run.program_id,
        "own_trial": trial.pk,
    }


def of_rick(name: str, kind: str) -> Study:
    """A running study of Rick's, who has an account."""
    from tests import studies
    from tests.e2e.rated import CODE, cases, pairs

    of = cases(name) if kind == "reveal" else []
    study = studies.study(name, [kind], [case.pair for case in of] or pairs(CODE))
    for sampled, case in zip(study.pairs.order_by("number"), of, strict=False):
        sampled.case = case
        sampled.save()
    studies.rater("rick", study)
    return study


def revealed() -> dict[str, int]:
    """A pair whose blind label is locked, so that all is shown."""
    from annotation.models import Rating
    from tests import studies

    study = of_rick("revealed", "reveal")
    given = studies.assignment(study.enrolments.get(), study.pairs.get(number=1), state="locked")
    Rating.objects.create(assignment=given, value=1, revision=1, evidence="0" * 64, seconds=20.0)
    return {"revealed": study.pk}


def draft() -> dict[str, int]:
    """A study that has not begun."""
    from tests import studies

    return {"draft": studies.study("not begun", state="draft").pk}


def canary() -> dict[str, int]:
    """A build whose canary waits for a decision, so that no worker takes its cases, with a drift check."""
    from django.utils import timezone

    from annotation.models import Canary
    from tests import factories

    build = factories.said(factories.opened("with a canary", state="canary"), (1, 0, 1, 0, 1, 0, None, 0, 1))
    drawn = [case.candidate_id for case in factories.cases(build)]
    Canary.objects.create(build=build, seed=7, drawn=drawn, pairs=900, done_at=timezone.now())
    factories.drift_checked(build, (1, 1, 0), (0, 0, 0.5), (0.5, 0.5, None), (1, 1, 1))
    return {"canary": build.pk}


def extended() -> dict[str, int]:
    """A build whose extension's canary waits, so that no worker takes its cases; with figures from before."""
    from django.utils import timezone

    from annotation.models import Build, Canary, Extension
    from tests import factories

    said = (1, 0, 1, 0, 1, 0, None, 0, 1)
    build = factories.said(factories.opened("extended", state="canary"), said)
    Build.objects.filter(pk=build.pk).update(state=Build.State.CANARY)
    drawn = [case.candidate_id for case in factories.cases(build)][:5]
    made = Extension.objects.create(
        build=build,
        number=1,
        mining=build.own_mining,
        state="canary",
        description="k 3 → 20",
        pairs=5,
        reason="more",
    )
    shares = dict.fromkeys(("unclear", "executable", "matches", "abandoned", "refused"), (2, 9))
    Canary.objects.create(
        build=build,
        extension=made,
        seed=7,
        drawn=drawn,
        pairs=900,
        done_at=timezone.now(),
        before={"finished": 9, "cost": 100_000.0, "shares": shares},
    )
    return {"extended": build.pk}


def connection() -> dict[str, int]:
    """A test of a server of language models that has ended."""
    from django.utils import timezone

    from annotation.models import ConnectionTest
    from tests import factories

    made = ConnectionTest.objects.create(
        user=factories.ada(), base_url="https://api.example.org", configured=False, model="some-model",
        profile="generic", state="failed", message="Nobody answered.", finished_at=timezone.now(),
    )  # fmt: skip
    return {"connection": made.pk}


def webhook() -> dict[str, int]:
    """A webhook that is off, with a message that arrived and one that did not."""
    from django.utils import timezone

    from tests import factories

    made = factories.webhook(
        "chat of the team",
        is_on=False,
        off_reason="Nothing arrived for 5 days.",
        failing_since=timezone.now(),
    )
    told = {"event": "build.done", "tries": 1, "tried_at": timezone.now()}
    factories.webhook_delivery(made, **told, state="sent", status=204)
    factories.webhook_delivery(
        made,
        **told,
        state="failed",
        status=500,
        error="The answer was 500.",
        answer="<html>Server error</html>",
    )
    return {"webhook": made.pk}


def ran(function: int) -> dict[str, int]:
    """A run of a written function's test after an expert changed the function."""
    from annotation.models import ExecutionRequest, Proposal
    from tests import factories

    proposal = Proposal.objects.select_related("case__program", "query").get(pk=function)
    assert proposal.case is not None
    program = factories.program_for(
        proposal.case, "assert True\n", parent=proposal.case.program, author=factories.erin()
    )
    asked = ExecutionRequest.objects.create(
        user=factories.erin(), program=program, state="done", execution=factories.execution(program)
    )
    return {"function_run": asked.pk}


if __name__ == "__main__":
    main()
