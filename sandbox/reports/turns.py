"""The order in which a program printed to its two outputs, from what the harness recorded of it."""

from collections.abc import Iterator

from sandbox.reports.observation import Observation
from sandbox.reports.texts import escape_unstorable_text

_STDOUT, _STDERR = 1, 2


def turns_of(seen: Observation) -> tuple[int, ...]:
    """Characters printed to stdout, then to stderr, then to stdout …, see Report.turns.

    Empty where the order is not known: something was printed by other ways than Python's streams, or it is
    no text.
    """
    texts = [text.encode("utf-8", "surrogatepass") for text in seen.raw]
    counted = list(seen.of("printed"))
    if counted and tuple(counted[0]) != seen.output_bytes:
        return ()
    if any(len(text) > total for text, total in zip(texts, seen.output_bytes, strict=True)):
        return ()
    lengths = []
    for stream, (before, now) in _pieces([(int(one), int(total)) for one, total in seen.of("turn")]):
        lengths.append(
            (stream, len(escape_unstorable_text(texts[stream - 1][before:now].decode("utf-8", "replace"))))
        )
    return tuple(_alternating(lengths))


def _pieces(turns: list[tuple[int, int]]) -> Iterator[tuple[int, tuple[int, int]]]:
    """(stream, its bytes from … to …) of each piece that another one followed."""
    done = {_STDOUT: 0, _STDERR: 0}
    for stream, total in turns:
        yield stream, (done[stream], max(total, done[stream]))
        done[stream] = max(total, done[stream])


def _alternating(lengths: list[tuple[int, int]]) -> Iterator[int]:
    wanted = _STDOUT
    for stream, length in lengths:
        if stream != wanted:
            yield 0
        yield length
        wanted = _STDERR if stream == _STDOUT else _STDOUT
