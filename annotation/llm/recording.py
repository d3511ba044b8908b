"""Recorded replies as a provider: the same question always gets the recorded answer, others get none."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from annotation.llm.errors import LLMError, NoReply
from annotation.llm.exchange import ExchangeProblem, ReplyLine, read_replies, read_reply_at
from annotation.llm.reply import Reply, Usage
from annotation.llm.request import Request
from annotation.llm.strict_json import NotJson, parse_strict_json

_SHOWN: Final = 5
_ROUND: Final = re.compile(rb'"round"\s*:\s*(\d{1,3})\b')


class RecordedFileError(LLMError):
    """The file of recorded replies can't be used: unreadable, bad lines, or changed while in use."""

    def __init__(self, path: Path, reason: str, problems: tuple[ExchangeProblem, ...] = ()) -> None:
        super().__init__(
            f"{path} can't be used as recorded replies: {reason}", retryable=False, provider=True
        )
        self.problems = problems


class RecordedLLM:
    """Answers from a JSON Lines file in the format of `annotation.llm.exchange`.

    The file is read once to find where each reply is; the replies stay on disk. Raises RecordedFileError
    if it can't be read or one of its lines is bad.
    """

    def __init__(self, path: Path, name: str = "") -> None:
        self.name = f"recorded:{name or path.stem}"
        self._path = path
        self._offsets = _offsets(path)

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._offsets

    def __len__(self) -> int:
        return len(self._offsets)

    def ask(self, request: Request) -> Reply:
        """The recorded reply, with latency 0, no cost where no usage was recorded.

        Raises NoReply, or RecordedFileError if the file was changed while in use.
        """
        id_ = request.digest()
        if id_ not in self._offsets:
            raise NoReply(id_, request.agent, f"{self._path.parent.name}/{self._path.name}")
        line = self._line(id_)
        return Reply(
            text=line.text,
            model=line.model or request.model,
            usage=line.usage or Usage(0, 0),
            latency=0.0,
            request_id=f"{self.name}:{id_[:16]}",
            stop_reason="end_turn",
        )

    def _line(self, id_: str) -> ReplyLine:
        try:
            with self._path.open("rb") as stream:
                line = read_reply_at(stream, self._offsets[id_])
        except OSError as error:
            raise self._lost(str(error)) from error
        if isinstance(line, ExchangeProblem) or line.id != id_:
            raise self._lost(f"the reply to {id_} is not where it was")
        return line

    def _lost(self, reason: str) -> RecordedFileError:
        return RecordedFileError(self._path, f"it was changed while in use ({reason}), restart the worker")


def rounds_of(path: Path) -> int:
    """How many rounds a recording answers: the highest `round` that a line names; 1 where none does.

    Raises OSError.
    """
    with path.open("rb") as stream:
        return max((said for line in stream for said in _rounds_in(line)), default=1)


def _rounds_in(line: bytes) -> Iterator[int]:
    """The round that a line names; most lines name none, and are not parsed."""
    if _ROUND.search(line):
        try:
            data = parse_strict_json(line.decode())
        except (UnicodeDecodeError, NotJson):
            return
        said = data.get("round") if isinstance(data, dict) else None
        if isinstance(said, int) and said > 0:
            yield said


def _offsets(path: Path) -> dict[str, int]:
    offsets: dict[str, int] = {}
    problems: list[ExchangeProblem] = []
    try:
        with path.open("rb") as stream:
            for line in read_replies(stream):
                if isinstance(line, ReplyLine):
                    offsets[line.id] = line.offset
                else:
                    problems.append(line)
    except OSError as error:
        raise RecordedFileError(path, error.strerror or str(error)) from error
    if problems:
        raise RecordedFileError(path, _first(problems), tuple(problems))
    return offsets


def _first(problems: list[ExchangeProblem]) -> str:
    shown = "; ".join(str(problem) for problem in problems[:_SHOWN])
    return shown if len(problems) <= _SHOWN else f"{shown}; and {len(problems) - _SHOWN} more"
