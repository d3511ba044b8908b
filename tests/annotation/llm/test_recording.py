import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from annotation.llm import LLM, Message, NoReply, Request, Usage
from annotation.llm.recording import RecordedFileError, RecordedLLM, rounds_of

REQUEST = Request("screener", "m", "rules", (Message("user", "pair"),), {"type": "object"}, 10)
OTHER = replace(REQUEST, messages=(Message("user", "other pair"),))


def record(path: Path, *lines: Mapping[str, object]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    usage = {"input_tokens": 20, "output_tokens": 5}
    answer = {"verdict": 1, "explanation": "é"}
    return record(
        tmp_path / "sample.jsonl",
        {
            "id": REQUEST.digest(),
            "reply": answer,
            "model": "m-2",
            "usage": usage,
            "agent": "screener",
            "query": "q",
        },
        {"id": OTHER.digest(), "reply": "some text"},
    )


def test_the_same_question_gets_the_recorded_answer(file: Path) -> None:
    llm: LLM = RecordedLLM(file)
    assert llm.name == "recorded:sample"
    reply = llm.ask(REQUEST)
    assert json.loads(reply.text) == {"verdict": 1, "explanation": "é"}
    assert (reply.model, reply.usage, reply.latency) == ("m-2", Usage(20, 5), 0.0)
    assert (reply.stop_reason, reply.request_id) == ("end_turn", f"recorded:sample:{REQUEST.digest()[:16]}")
    assert llm.ask(REQUEST) == reply


def test_what_was_not_recorded_is_the_requests_model_and_no_tokens(file: Path) -> None:
    reply = RecordedLLM(file).ask(OTHER)
    assert (reply.text, reply.model, reply.usage) == ("some text", "m", Usage(0, 0))


def test_another_question_gets_no_answer_and_is_named(file: Path) -> None:
    changed = replace(REQUEST, system="changed rules")
    with pytest.raises(NoReply, match=f"no reply to request {changed.digest()} of the screener") as caught:
        RecordedLLM(file).ask(changed)
    assert not caught.value.retryable
    assert not caught.value.provider
    assert caught.value.request_id == changed.digest()
    assert f"{file.parent.name}/{file.name}" in str(caught.value)


def test_its_name_can_be_chosen_and_its_replies_counted(file: Path) -> None:
    llm = RecordedLLM(file, "demo")
    assert (llm.name, len(llm)) == ("recorded:demo", 2)
    assert REQUEST.digest() in llm
    assert "0" * 64 not in llm


def test_a_file_with_bad_lines_is_refused_with_the_first_of_them(tmp_path: Path) -> None:
    path = record(tmp_path / "bad.jsonl", *[{"id": "x"} for _ in range(7)])
    with pytest.raises(
        RecordedFileError, match=r"bad\.jsonl can't be used .*line 1: .*line 5: .*and 2 more"
    ) as caught:
        RecordedLLM(path)
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3, 4, 5, 6, 7]


def test_a_missing_file_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(RecordedFileError, match=r"none\.jsonl can't be used .*: No such file") as caught:
        RecordedLLM(tmp_path / "none.jsonl")
    assert caught.value.provider
    assert not caught.value.retryable


def test_a_file_that_changes_while_in_use_never_gives_another_pairs_answer(file: Path) -> None:
    llm = RecordedLLM(file)
    record(file, {"id": OTHER.digest(), "reply": "some text"})
    with pytest.raises(RecordedFileError, match="was changed while in use") as caught:
        llm.ask(REQUEST)
    assert caught.value.provider
    file.unlink()
    with pytest.raises(RecordedFileError, match="was changed while in use"):
        llm.ask(OTHER)


def test_the_rounds_of_a_recording_are_those_that_its_lines_name(tmp_path: Path, file: Path) -> None:
    assert rounds_of(file) == 1
    said = {"id": OTHER.digest(), "reply": 'says "round": 9 in its text', "round": 3}
    lines: list[dict[str, object]] = [
        {"id": REQUEST.digest(), "reply": '"round": 7'},
        said,
        {"id": "x", "round": True},
    ]
    path = record(tmp_path / "more.jsonl", *lines)
    path.write_bytes(path.read_bytes() + b'{"round": 8, broken\n\xff"round": 8\n')
    assert rounds_of(path) == 3
