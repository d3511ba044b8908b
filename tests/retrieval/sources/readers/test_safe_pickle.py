"""Pickles: plain data is read, whatever a pickle could do beyond it is refused unperformed."""

import os
import pickle
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sources.readers import safe_pickle
from retrieval.sources.readers.safe_pickle import Hostile, load_safe_pickle, stream_safe_pickle

IDS = st.integers(0, 2**31 - 1)
KEYS = IDS | st.tuples(IDS, st.integers(0, 99))
VALUES = st.none() | st.booleans() | IDS | st.floats(allow_nan=False) | st.text()
RECORDS = st.dictionaries(st.text(), VALUES | st.lists(st.text() | st.tuples(st.text(), st.text())))


class Evil:
    def __reduce__(self) -> Any:
        return os.mkdir, ("/tmp/this-was-run",)


@given(data=st.dictionaries(KEYS, st.text(), max_size=5), protocol=st.integers(1, 5))
def test_what_any_protocol_writes_is_read_back(data: dict[Any, str], protocol: int) -> None:
    assert load_safe_pickle(pickle.dumps(data, protocol)) == data


def test_python_2_wrote_bytes() -> None:
    assert load_safe_pickle(b"(dp0\n(I12\nI0\ntp1\nS'caf\\xc3\\xa9'\np2\ns.") == {(12, 0): "café"}


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_that_calls_is_refused_by_the_instruction(protocol: int) -> None:
    with pytest.raises(Hostile, match="GLOBAL"):
        load_safe_pickle(pickle.dumps({(1, 0): Evil()}, protocol))
    assert not os.path.exists("/tmp/this-was-run")


@pytest.mark.parametrize(
    "content",
    [
        b"cos\nsystem\n(S'true'\ntR.",
        b"(S'true'\nios\nsystem\n.",
        b"\x82\x01.",  # a name in the table of extensions
        b"Pname\n.",  # a persistent object
        b"\x80\x04]\x94(h\x00h\x00e.",  # a list of itself
        b"(" + b"(" * 10 + b"t" * 11 + b".",
        b"\x80\x04K\x01\x85" + b"\x86".join([b"2"] * 3) + b".",
        b"\x80\x04\x8a\xff" + b"\x7f" * 255 + b".",  # a number of 2,040 bits
        b"I" + b"9" * 30 + b"\n.",
        b"\x80\x04r\xff\xff\xff\x7f.",  # a place in the memo far away, of nothing
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f.",  # a frame longer than any file
        b"\x80\x04B\xff\xff\xff\x7f.",
        b"X\xff\xff\xff\xffabc.",
        b"",
        b"\x80\x63.",
        b"}",
    ],
)
def test_hostile_and_damaged_pickles_are_refused(content: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError):
        load_safe_pickle(content)


@given(content=st.binary(max_size=60))
def test_no_bytes_do_more_than_fail(content: bytes) -> None:
    with suppress(pickle.UnpicklingError):
        load_safe_pickle(content)


def test_containers_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_pickle, "CONTAINERS_LIMIT", 100)
    with pytest.raises(Hostile, match="more than 100"):
        load_safe_pickle(b"}" * 200 + b".")


@pytest.fixture(name="file", scope="module")
def _file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pickles") / "some.pkl"


@given(records=st.lists(RECORDS, max_size=8), protocol=st.integers(2, 5))
def test_a_list_is_streamed_as_it_was_written(file: Path, records: list[Any], protocol: int) -> None:
    file.write_bytes(pickle.dumps(records, protocol))
    assert list(stream_safe_pickle(file)) == records


@given(records=st.dictionaries(st.text(), st.lists(st.tuples(st.text(), st.text()))))
def test_a_dict_is_streamed_as_its_items(file: Path, records: dict[str, Any]) -> None:
    file.write_bytes(pickle.dumps(records))
    assert list(stream_safe_pickle(file)) == list(records.items())


@given(names=st.lists(st.sampled_from(["a" * 99, "b" * 99, "c" * 99]), max_size=60), window=st.integers(1, 9))
def test_texts_referred_to_from_far_away_are_kept(file: Path, names: list[str], window: int) -> None:
    file.write_bytes(pickle.dumps([{"nwo": name, "own": f"{place}"} for place, name in enumerate(names)]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(safe_pickle, "WINDOW", window)
        assert [record["nwo"] for record in stream_safe_pickle(file)] == names


@given(content=st.binary(max_size=60))
def test_no_bytes_do_more_than_fail_in_a_stream(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with suppress(pickle.UnpicklingError):
        list(stream_safe_pickle(file))


@given(records=st.lists(RECORDS, min_size=1, max_size=4), cut=st.integers(1, 10_000))
def test_a_stream_that_is_cut_off_never_ends_quietly(file: Path, records: list[Any], cut: int) -> None:
    whole = pickle.dumps(records)
    file.write_bytes(whole[: -1 - cut % len(whole)])
    with pytest.raises(pickle.UnpicklingError, match=r"damaged|lists"):
        list(stream_safe_pickle(file))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (pickle.dumps([Evil()]), "GLOBAL"),
        (pickle.dumps("text"), "expected a list or a dict, found str"),
        (pickle.dumps([1], 0), "has the instruction PUT"),
        (pickle.dumps([2**60]), "more than 53 bits"),
        (pickle.dumps([b"bytes"]), "SHORT_BINBYTES"),
        (b"\x80\x04]X\xff\xff\xff\x7fabc.", "cut off"),
        (b"\x80\x04]\x95\xff\xff\xff\x7f\x00\x00\x00\x00.", "text of more than"),
        (b"\x80\x02]q\x05.", "memo in order"),
    ],
)
def test_hostile_streams_are_refused(file: Path, content: bytes, why: str) -> None:
    file.write_bytes(content)
    with pytest.raises(pickle.UnpicklingError, match=why):
        list(stream_safe_pickle(file))
    assert not os.path.exists("/tmp/this-was-run")


@pytest.mark.parametrize(("limit", "least"), [("BATCH_LIMIT", 100), ("HELD_LIMIT", 100), ("FAR_LIMIT", 0)])
def test_what_would_fill_the_memory_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch, limit: str, least: int
) -> None:
    file.write_bytes(pickle.dumps([{"name": f"{place}" * 40} for place in range(2_000)]))
    assert len(list(stream_safe_pickle(file))) == 2_000
    monkeypatch.setattr(safe_pickle, limit, least)
    monkeypatch.setattr(safe_pickle, "WINDOW", 10)
    with pytest.raises(Hostile, match="more than"):
        list(stream_safe_pickle(file))


def test_memory_does_not_grow_with_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_pickle, "WINDOW", 1_000)
    peaks = [_peak(file, count) for count in (3_000, 12_000)]
    assert peaks[1] < 1.5 * peaks[0]


def _peak(file: Path, count: int) -> int:
    """Bytes at most in use while so many records of about 2,000 characters are streamed."""
    with file.open("wb") as stream:
        pickle.dump([{"nwo": "a/b", "function": f"{place}" * 400} for place in range(count)], stream)
    tracemalloc.start()
    assert sum(1 for _ in stream_safe_pickle(file)) == count
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
