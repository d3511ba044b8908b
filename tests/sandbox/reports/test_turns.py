from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from sandbox.reports.observation import Observation
from sandbox.reports.report import Outcome, Report
from sandbox.reports.texts import escape_unstorable_text
from sandbox.reports.turns import turns_of

printing = st.lists(st.tuples(st.sampled_from([1, 2]), st.text(st.characters(codec="utf-8"), min_size=1)))


def _seen(pieces: list[tuple[int, str]], missing: int = 0) -> Observation:
    """What would be seen of a program that prints these pieces, `missing` bytes of which nobody noticed."""
    totals, last, records = {1: 0, 2: 0}, 0, []
    for stream, text in pieces:
        if last and stream != last:
            records.append(("turn", last, totals[last]))
        totals[stream] += len(text.encode())
        last = stream
    records.append(("printed", totals[1], totals[2]))
    raw = tuple("".join(text for stream, text in pieces if stream == wanted) for wanted in (1, 2))
    bytes_seen = totals[1] + missing, totals[2]
    return Observation(tuple(records), "", "", bytes_seen, 0, "", 0, 0, 0, 0, 0, 0, (raw[0], raw[1]))


@given(printing)
def test_what_was_printed_is_given_back_in_order(pieces: list[tuple[int, str]]) -> None:
    seen = _seen(pieces)
    stdout, stderr = map(escape_unstorable_text, seen.raw)
    report = Report(Outcome.PASSED, stdout=stdout, stderr=stderr, turns=turns_of(seen))

    runs = groupby(pieces, key=lambda piece: ("stdout", "stderr")[piece[0] - 1])
    assert list(report.printed()) == [
        (name, escape_unstorable_text("".join(one for _, one in run))) for name, run in runs
    ]


@given(printing)
def test_without_knowing_all_of_it_no_order_is_told(pieces: list[tuple[int, str]]) -> None:
    assert turns_of(_seen(pieces, missing=1)) == ()
