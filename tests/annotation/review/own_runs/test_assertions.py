"""An answered call as an assertion: true of the candidate, kept in the draft, refused where it would lie."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation.models import CallAnswer, CallRequest, Case, Draft
from annotation.review import drafts
from annotation.review.own_runs.assertions import NoAssertion, add_assertion, assertion_of, split_before_run
from sandbox.expression_call import Answer, CallOutcome
from sandbox.reports.report import Raised
from tests import factories


def returned(value: str) -> Answer:
    return Answer(CallOutcome.RETURNED, value=value, type="x")


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        ("f([1, ''])", "[1]", "assert f([1, '']) == [1]"),
        ("f(1) or 2", "3", "assert (f(1) or 2) == 3"),
        ("f()", "None", "assert f() is None"),
        ("f()", "nan", "assert repr(f()) == 'nan'"),
        ("f()", "<object>", "assert repr(f()) == '<object>'"),
        ("import math; f(math.pi)", "3", "import math\nassert f(math.pi) == 3"),
    ],
)
def test_a_value_is_compared_as_it_can_be(expression: str, value: str, expected: str) -> None:
    assert assertion_of(expression, returned(value)) == expected


def test_an_exception_is_expected_by_its_name() -> None:
    lines = assertion_of("f(3)", Answer(CallOutcome.RAISED, raised=Raised("json.JSONDecodeError", "no")))

    raising = {"f": lambda _: (_ for _ in ()).throw(type("JSONDecodeError", (Exception,), {})())}
    exec(lines, raising)
    with pytest.raises(AssertionError, match="no JSONDecodeError"):
        exec(lines, {"f": lambda _: 3})


def test_an_exit_of_the_candidate_is_expected_too() -> None:
    lines = assertion_of("f()", Answer(CallOutcome.RAISED, raised=Raised("SystemExit", "3")))

    exec(lines, {"f": lambda: exit(3)})
    with pytest.raises(AssertionError, match="no SystemExit"):
        exec(lines, {"f": lambda: 3})


def test_an_address_is_not_asserted_as_it_is_another_one_in_each_run() -> None:
    with pytest.raises(NoAssertion, match="address"):
        assertion_of("f()", returned("[<generator object f at 0x7fb72b848440>]"))
    assert assertion_of("f()", returned("'at 0x7fb72b848440'")) == "assert f() == 'at 0x7fb72b848440'"


@pytest.mark.parametrize(
    "answer", [returned("[1, 2, …"), Answer(CallOutcome.TIMED_OUT), Answer(CallOutcome.ERRORED)]
)
def test_what_is_not_known_whole_is_not_asserted(answer: Answer) -> None:
    with pytest.raises(NoAssertion):
        assertion_of("f(3)", answer)


TESTS = "def main():\n    assert f(1) == 1"


@pytest.mark.parametrize(
    "run",
    [
        "main()",
        'if __name__ == "__main__":\n    main()',
        "for test in (main,):\n    test()",
        "main()\n# the end",
        "reset()\nsys.exit(main())",
    ],
)
def test_an_assertion_stands_above_what_runs_the_tests(run: str) -> None:
    assert split_before_run(f"{TESTS}\n\n\n{run}") == (f"{TESTS}\n\n", run)


@pytest.mark.parametrize("source", [TESTS, "main()\nassert f(1) == 1", "# nothing yet", "def main(:", ""])
def test_else_it_stands_at_the_end(source: str) -> None:
    assert split_before_run(source) == (source, "")


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 0)


def asked(user: User, case: Case, answer: Answer | None) -> CallRequest:
    stored = None
    if answer is not None:
        stored = CallAnswer.objects.create(outcome=answer.outcome, seconds=0, text=answer.to_json())
    return CallRequest.objects.create(user=user, pair=case.pair, expression="reverse([1])", answer=stored)


@pytest.mark.django_db
def test_it_is_added_to_the_draft_or_to_a_copy_of_the_test(case: Case) -> None:
    erin = factories.erin()
    call = asked(erin, case, returned("[1]"))

    add_assertion(erin, case, call, case.program)
    drafts.save_draft(erin, case.pair_id, Draft.Field.TEST, draft_of(erin, case) + "# mine")
    added = add_assertion(erin, case, call, case.program).lines

    assert added == "assert reverse([1]) == [1]"
    above = factories.PROGRAM.removesuffix("\n\n\nmain()\n")
    assert draft_of(erin, case) == f"{above}\n\n{added}\n\n{added}\n\nmain()\n# mine\n"


@pytest.mark.django_db
def test_it_runs_though_a_test_fails_that_the_draft_runs_at_its_end(case: Case) -> None:
    erin = factories.erin()
    ending = 'if __name__ == "__main__":\n    main()'
    drafts.save_draft(erin, case.pair_id, Draft.Field.TEST, f"def main():\n    assert 0\n\n\n{ending}\n")
    added = add_assertion(erin, case, asked(erin, case, returned("[1]")), case.program)

    assert added.before == 'if __name__ == "__main__":'
    assert draft_of(erin, case) == f"def main():\n    assert 0\n\n{added.lines}\n\n{ending}\n"


@pytest.mark.django_db
def test_a_call_without_an_answer_leaves_the_draft_alone(case: Case) -> None:
    erin = factories.erin()

    with pytest.raises(NoAssertion, match="no answer yet"):
        add_assertion(erin, case, asked(erin, case, None), case.program)
    assert not Draft.objects.exists()


def draft_of(user: User, case: Case) -> str:
    return drafts.load_drafts(user, case.pair_id)[Draft.Field.TEST].text
