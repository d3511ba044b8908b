"""Streaming JSON: equal to the whole parse on good files, and exact about what is wrong with bad ones."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.sources import Problem
from retrieval.sources.readers import json_stream
from retrieval.sources.readers.json_stream import Element, stream_json_elements

ROOT = Path(__file__).resolve().parents[4]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
same_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def read(tmp_path: Path, content: str | bytes, limit: int = 1000) -> list[Element | Problem]:
    path = tmp_path / "file.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return list(stream_json_elements(path, limit))


def good(found: list[Element | Problem]) -> list[Any]:
    return [element.value for element in found if isinstance(element, Element)]


def problems(found: list[Element | Problem]) -> list[tuple[int, str]]:
    return [(problem.record, problem.message) for problem in found if isinstance(problem, Problem)]


@pytest.mark.parametrize("chunk", [1, 7, 4096])
@given(items=st.lists(values, max_size=6), indent=st.sampled_from([None, 1]), ascii_only=st.booleans())
@same_file
def test_an_array_equals_its_whole_parse(
    items: list[Any], indent: int | None, ascii_only: bool, chunk: int, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        found = read(tmp_path, json.dumps(items, indent=indent, ensure_ascii=ascii_only), limit=10**6)
    assert found == [Element(number, None, item) for number, item in enumerate(items, 1)]


@given(items=st.dictionaries(st.text(max_size=9), values, max_size=6))
@same_file
def test_an_object_equals_its_whole_parse(items: dict[str, Any], tmp_path: Path) -> None:
    found = read(tmp_path, json.dumps(items), limit=10**6)
    assert found == [Element(number, key, items[key]) for number, key in enumerate(items, 1)]


@given(
    before=st.lists(values, max_size=3),
    broken=st.sampled_from(["nul", "{'a': 1}", '{"a" 1}', "[1, }", "01", "1" * 5000, '"a" "b"']),
    after=st.lists(values, max_size=3),
)
@same_file
def test_what_stands_around_a_broken_element_is_kept(
    before: list[Any], broken: str, after: list[Any], tmp_path: Path
) -> None:
    if broken == "[1, }":
        after = []  # a wrong bracket hides where the element ends
    parts = [*map(json.dumps, before), broken, *map(json.dumps, after)]
    found = read(tmp_path, f"[{', '.join(parts)}]", limit=10**6)
    assert good(found) == [*before, *after]
    assert len(before) + 1 in [number for number, _ in problems(found)]


@pytest.mark.parametrize("chunk", [1, 16, 4096])
def test_a_long_element_is_skipped_by_number(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "CHUNK", chunk)
    long = json.dumps({"a": '],}"\\' * 300, "b": [[], {}]})
    found = read(tmp_path, f'[1, {long}, 2, "{"x" * 1200}"]')
    assert good(found) == [1, 2]
    assert problems(found) == [
        (2, "is longer than 1,000 characters and is skipped"),
        (4, "is longer than 1,000 characters and is skipped"),
    ]


@pytest.mark.parametrize(
    ("content", "kept", "record", "message"),
    [
        (b"", [], 0, "expected a JSON array or object of UTF-8 text, found the end of the file"),
        (b"   doc,code\n", [], 0, r"expected a JSON array or object of UTF-8 text, found 'doc,code\\n'"),
        (b'[1, "\xff", 2]', [1, 2], 2, "has bytes that are not UTF-8; convert the file to UTF-8"),
        (b"[1, 2", [1, 2], 2, "nothing after this record can be read; is the file cut off"),
        (b'[1, "cut', [1], 2, "is not JSON: Unterminated string"),
        (b"[1, ]", [1], 2, "is not JSON: Expecting value"),
        (b"[1] [2]", [1], 0, r"text after the end of the JSON is not read: '\[2\]'"),
        (b'{"a": 1, 2: 3}', [1], 2, "expected a string as key"),
        (b'{"a" 1, "b": 2}', [2], 1, "expected : after the key, found '1, \"b\": 2}'"),
        (b"[1} ", [], 1, "expected , or ] after the record, found '} '"),
        (b"[" + b"[" * 100_000, [], 1, "nested too deeply"),
    ],
)
def test_a_problem_names_record_and_reason(
    content: bytes, kept: list[Any], record: int, message: str, tmp_path: Path
) -> None:
    found = read(tmp_path, content, limit=10**6)
    assert good(found) == kept
    first = next(problem for problem in found if isinstance(problem, Problem))
    assert first.record == record
    with pytest.raises(
        AssertionError, match=message.replace("[", r"\[") if "\\[" not in message else message
    ):
        raise AssertionError(first.message)
    assert str(first).startswith(f"{tmp_path / 'file.json'}{f', record {record}' if record else ''}: ")


def test_a_byte_order_mark_and_numbers_without_value_are_read(tmp_path: Path) -> None:
    found = good(read(tmp_path, b"\xef\xbb\xbf[NaN, 1]"))
    assert math.isnan(found[0])
    assert found[1] == 1


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    assert problems(list(stream_json_elements(tmp_path / "none.json"))) == [
        (0, "cannot be read: No such file or directory")
    ]


READ_UNDER_A_CEILING = """
import resource, sys
from pathlib import Path
from retrieval.sources.readers.json_stream import stream_json_elements
resource.setrlimit(resource.RLIMIT_AS, (2**28, 2**28))
for found in stream_json_elements(Path(sys.argv[1])):
    print(getattr(found, "message", None) or found.value)
"""


def test_a_line_longer_than_memory_is_skipped(tmp_path: Path) -> None:
    """The file is sparse: as much NUL as there is memory inside one string takes no room on the disk."""
    path = tmp_path / "huge.json"
    with path.open("wb") as stream:
        stream.write(b'["first", "')
        stream.seek(2**28)
        stream.write(b'", "last"]')
    command = [sys.executable, "-c", READ_UNDER_A_CEILING, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["first", "is longer than 4,194,304 characters and is skipped", "last"]


def test_a_key_that_an_object_has_twice_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        '[{"label": 0}, {"label": 1, "of": {"x": 1, "x": 2}}, {"label": 1, "label": 0}, {"a": 1}]'
    )
    read = list(stream_json_elements(path))
    assert [one.value for one in read if isinstance(one, Element)] == [{"label": 0}, {"a": 1}]
    assert [str(one) for one in read if isinstance(one, Problem)] == [
        f"{path}, record 2: has the key 'x' twice: remove one",
        f"{path}, record 3: has the key 'label' twice: remove one",
    ]
