import contextlib
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotation.agents import InvalidReply, arbiter, fixer, paper, screener
from annotation.agents.replies import one_object

GOOD = {"explanation": "it returns the reversed list", "verdict": 1}
PROGRAM = "def main():\n    assert reverse([1, 2]) == [2, 1]\n\n\nmain()\n"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        f"```json\n{json.dumps(GOOD, indent=2)}\n```",
        f"Here is my judgement.\n\n{json.dumps(GOOD)}\n\nI hope this helps.",
        f"The function returns {{}} for no input.\n{json.dumps(GOOD)}",
        f"{json.dumps(GOOD)}\n{json.dumps(GOOD)}",
    ],
)
def test_the_one_object_is_found_bare_fenced_and_in_prose(text: str) -> None:
    assert one_object(text) == GOOD


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no JSON object"),
        ("verdict: 1", "no JSON object"),
        ("{'verdict': 1}", "no JSON object"),
        ("1", "no JSON object"),
        ("{}", "no JSON object"),
        ('[{"verdict": 1}]', "a list"),
        ('{"verdict": 0} or rather {"verdict": 1}', "2 different JSON objects"),
        ('{"verdict": 1} or rather {"verdict": true}', "2 different JSON objects"),
        ('{"verdict": NaN}', "NaN is no JSON number"),
        ('{"verdict": -Infinity}', "-Infinity is no JSON number"),
        ('{"verdict": 1e999}', "too large a number"),
        ('{"verdict": 0, "verdict": 1}', "a key twice"),
        ('{"verdict": 1, "explanation": "cut o', "can't be read"),
        ('{"a": {"verdict": 1, "explanation": "the inner object of a broken one"}', "can't be read"),
        ('{"explanation": "\\u0000"}', "NUL"),
        ('{"explanation": "\\ud800"}', "surrogate"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("x" * 1_000_001, "1,000,001 characters"),
    ],
)
def test_anything_but_one_readable_object_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(InvalidReply, match=complaint):
        one_object(text)


def test_a_program_may_speak_of_a_nul_without_holding_one() -> None:
    program = r"""assert clean("a\u0000b\ud800") == "ab" """
    assert one_object(json.dumps({"program": program, "helpers": [{"a": ["b"]}]}))["program"] == program


@pytest.mark.parametrize("text", ['{"helpers": [{"a": ["\\u0000"]}]}', '{"\\udfff": 1}'])
def test_a_nul_is_found_however_deep(text: str) -> None:
    with pytest.raises(InvalidReply, match="NUL"):
        one_object(text)


@given(st.text() | st.from_regex(r'\A[\s{}\[\]":,0-9a-z]*\Z'))
@example('{"a": 1' + "0" * 5000 + "}")
def test_any_text_is_an_object_or_an_invalid_reply(text: str) -> None:
    with contextlib.suppress(InvalidReply):
        assert one_object(text)


storable = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)


@given(st.dictionaries(storable, st.integers() | storable, min_size=1))
def test_every_object_is_found_again_inside_prose(value: dict[str, int | str]) -> None:
    assert one_object(f"My answer:\n```\n{json.dumps(value)}\n```\nDone.") == value


@pytest.mark.parametrize(("given_verdict", "verdict"), [(0, 0.0), (0.5, 0.5), (1, 1.0), (1.0, 1.0)])
def test_the_screener_has_three_verdicts(given_verdict: float, verdict: float) -> None:
    reply = screener.ScreenerVerdict.of_reply(
        json.dumps({"verdict": given_verdict, "explanation": " because "})
    )
    assert (reply.verdict, reply.explanation) == (verdict, "because")


@pytest.mark.parametrize("verdict", [0.7, -1, 2, True, False, "1", "0.5", "yes", None, [1], {"value": 1}])
def test_a_verdict_off_the_screeners_menu_is_no_verdict(verdict: object) -> None:
    with pytest.raises(InvalidReply, match=r"verdict: has to be one of the numbers 0, 0\.5, 1, got"):
        screener.ScreenerVerdict.of_reply(json.dumps({"verdict": verdict, "explanation": "x"}))


@pytest.mark.parametrize("verdict", [0.5, 0.7, True, False, "1", "yes", None])
def test_a_verdict_off_the_arbiters_menu_is_no_verdict(verdict: object) -> None:
    with pytest.raises(InvalidReply, match="verdict: has to be one of the numbers 0, 1, got"):
        arbiter.FinalVerdict.of_reply(json.dumps({"verdict": verdict, "explanation": "x"}))


@given(st.one_of(st.floats(), st.integers(), st.text(), st.booleans(), st.none()))
def test_a_verdict_is_on_the_menu_or_refused(verdict: object) -> None:
    text = json.dumps({"verdict": verdict, "explanation": "x"})
    on_menu = not isinstance(verdict, bool) and verdict in (0, 1)
    if on_menu:
        label = arbiter.FinalVerdict.of_reply(text).verdict
        assert type(label) is int
        assert label == verdict
    else:
        with pytest.raises(InvalidReply):
            arbiter.FinalVerdict.of_reply(text)


def test_every_wrong_field_is_named_for_the_repair() -> None:
    with pytest.raises(InvalidReply) as caught:
        arbiter.FinalVerdict.of_reply('{"verdict": 3, "explanation": " ", "confidence": 0.9}')
    assert "verdict: has to be one of the numbers 0, 1, got 3" in str(caught.value)
    assert "explanation: must not be empty" in str(caught.value)
    assert "confidence: Extra inputs are not permitted" in str(caught.value)


def test_a_test_program_is_python_that_asserts() -> None:
    reply = paper.PlainTestReply.of_reply(
        json.dumps({"program": PROGRAM, "reading": "reverse a list", "helpers": []})
    )
    assert (reply.program, reply.reading, reply.helpers) == (PROGRAM, "reverse a list", [])


def test_raw_line_breaks_in_a_program_are_forgiven() -> None:
    text = '{"reading": "r", "helpers": ["Node"], "program": "x = 1\nassert x == 1\n"}'
    assert paper.PlainTestReply.of_reply(text).program == "x = 1\nassert x == 1\n"


@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        ("def main(:\n    pass", "program: is not valid Python 3: line 1"),
        ("print 'x'\nassert 1", "program: is not valid Python 3: line 1"),
        ("def main():\n    print(1)\n", "program: has no assert statement"),
        ("", "program: has no assert statement"),
        ("(" * 5000 + ")" * 5000, "program: is n"),
        ("#" * 100_001, "program: is longer than 100,000 characters"),
    ],
)
def test_a_program_that_can_prove_nothing_is_refused(program: str, complaint: str) -> None:
    with pytest.raises(InvalidReply, match=complaint):
        paper.PlainTestReply.of_reply(json.dumps({"program": program, "reading": "r", "helpers": []}))


def test_a_reading_and_named_helpers_are_needed() -> None:
    with pytest.raises(InvalidReply, match=r"reading: must not be empty.*helpers\.0: must not be empty"):
        paper.PlainTestReply.of_reply(json.dumps({"program": PROGRAM, "reading": "", "helpers": [""]}))


def test_a_fixer_may_suggest_nothing() -> None:
    assert fixer.FixerReply.of_reply('{"commands": []}').commands == []
    assert fixer.FixerReply.of_reply('{"commands": ["pip install PyYAML"]}').commands == [
        "pip install PyYAML"
    ]
    with pytest.raises(InvalidReply, match="commands: Input should be a valid list"):
        fixer.FixerReply.of_reply('{"commands": "pip install PyYAML"}')


ANSWER = json.dumps(GOOD)
DRAFT = json.dumps({"explanation": "it may sort", "verdict": 0.5})


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\nA first draft: {DRAFT}. On reflection not.\n</think>\n\n{ANSWER}",
        f"{ANSWER}\n<think>or {DRAFT}?</think>",
        f"<think>{DRAFT}</think> Hm. <think>{DRAFT}</think>{ANSWER}",
        f"<think>a <think>b {DRAFT}</think> c {DRAFT}</think>{ANSWER}",
        f"<Thinking>{DRAFT}</Thinking>{ANSWER}",
        f"[THINK]{DRAFT}[/THINK]{ANSWER}",
        f"◁think▷{DRAFT}◁/think▷{ANSWER}",
        f'<think>The form is {{"explanation": ..., "verdict": ...}}.</think>{ANSWER}',
        f'<think>cut o {{"explanation": "x</think>{ANSWER}',
        f"My provider wrote the opening tag: {DRAFT}\n</think>\n{ANSWER}",
        f'The form is {{"explanation": ..., "verdict": ...}}.\n</think>\n{ANSWER}',
        f"The code looks for `<think>` and '</think>'.\n{ANSWER}",
    ],
)
def test_what_was_thought_is_no_answer(text: str) -> None:
    assert one_object(text) == GOOD


@pytest.mark.parametrize("text", [f"<think>{ANSWER}", f"{ANSWER}</think>", f"<think>{ANSWER}</think> Done."])
def test_an_object_that_was_only_thought_is_refused(text: str) -> None:
    with pytest.raises(InvalidReply, match="no JSON object"):
        one_object(text)


def test_two_different_objects_outside_of_thinking_are_refused() -> None:
    with pytest.raises(InvalidReply, match="2 different JSON objects"):
        screener.ScreenerVerdict.of_reply(f"<think>{ANSWER}</think>{ANSWER} or rather {DRAFT}")


@pytest.mark.parametrize(
    "quoted",
    [
        '{"a": 1}',
        '{"a": None}',
        '{"x", "y"}',
        '{"verdict": 1}',
        '{"a": {"b": NaN}}',
        "[1, 2]",
        '{"a": 1, "a": 2}',
    ],
)
def test_an_object_that_the_prose_quotes_is_no_answer(quoted: str) -> None:
    for text in (f"{quoted} is returned.\n{ANSWER}", f"{ANSWER}\nIt returns {quoted}"):
        assert screener.ScreenerVerdict.of_reply(text).verdict == 1


@pytest.mark.parametrize(
    "text",
    [
        f'{{"explanation": "a "quoted" word", "verdict": 0}}\n{ANSWER}',
        f'{{"explanation": "no", "verdict": "0"}}\n{ANSWER}',
        f'{{"a": None, "b": {ANSWER}}}',
        f'{{"a": None, {ANSWER}',
    ],
)
def test_an_answer_beside_another_try_or_inside_of_one_is_refused(text: str) -> None:
    with pytest.raises(InvalidReply):
        screener.ScreenerVerdict.of_reply(text)


def test_a_long_text_of_broken_objects_is_refused() -> None:
    with pytest.raises(InvalidReply, match="no JSON object"):
        one_object('{"a": None} ' * 1_001 + ANSWER, {"explanation", "verdict"})


prose = st.lists(st.sampled_from(['"', "`", "}", "a ", "<b>", "[1]"])).map("".join)
drafts = st.lists(st.sampled_from(["{", "}", '{"', '"', "`", "a ", "<think>", DRAFT])).map("".join)


@given(drafts, prose, storable)
def test_a_draft_changes_nothing_and_a_tag_inside_of_a_text_stays(draft: str, around: str, said: str) -> None:
    answer = {"explanation": f"{said}<think>{said}</think>{said}", "verdict": 1}
    assert one_object(f"<think>{draft}\n</think>\n{around}{json.dumps(answer)}{around}") == answer
