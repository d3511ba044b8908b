import re
from array import array
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from datetime import timezone as real_timezone
from decimal import Decimal
from fractions import Fraction
from itertools import repeat
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.harness.trace.values import AS_PYTHON, render

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner)
)


@given(values, st.integers(1, 200))
def test_text_is_never_longer_than_its_limit(value: object, limit: int) -> None:
    assert len(render(value, limit, True)) <= limit


@given(values)
def test_small_values_read_as_python_writes_them(value: object) -> None:
    text = render(value, 10_000, True)
    assert "…" in text or text == repr(value)


@given(st.sets(st.text(max_size=3), min_size=1))
def test_sets_have_one_order(value: set[str]) -> None:
    assert render(value, 10_000, True) == "{" + ", ".join(sorted(map(repr, value))) + "}"


class Loud:
    def __repr__(self) -> str:
        return "loud"


class Broken:
    def __repr__(self) -> str:
        raise ValueError("no")


Point = namedtuple("Point", "x y")


class Traps(type):
    def __getattribute__(cls, name: str) -> object:
        raise AssertionError("somebody looks at the class")


class Trap(metaclass=Traps):
    def __getattribute__(self, name: str) -> object:
        raise AssertionError("somebody looks at the object")

    def __repr__(self) -> str:
        raise AssertionError("somebody wants to see the object")


class TrapZone(tzinfo):
    def __repr__(self) -> str:
        raise AssertionError("somebody wants to see the time zone")

    def utcoffset(self, when: datetime | None) -> timedelta:
        raise AssertionError("somebody wants to know the time")

    dst = utcoffset

    def tzname(self, when: datetime | None) -> str:
        raise AssertionError("somebody wants to know the zone")


@pytest.mark.parametrize(
    ("value", "trusting", "text"),
    [
        (Loud(), True, "loud"),
        (Loud(), False, "<Loud object>"),
        (Broken(), True, "<Broken whose repr raised ValueError>"),
        ([Loud()], False, "[<Loud object>]"),
        (Point(1, 2), True, "Point(x=1, y=2)"),
        (len, False, "<builtin_function_or_method len>"),
        (Loud, False, "<class Loud>"),
        ((1,), True, "(1,)"),
        (set(), True, "set()"),
        (frozenset({1}), True, "frozenset({1})"),
    ],
)
def test_objects(value: object, trusting: bool, text: str) -> None:
    assert render(value, 200, trusting) == text


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Trap(), "<Trap object>"),
        (lambda: Trap, "<class Trap>"),
        (lambda: defaultdict(list, a=[Trap()]), "defaultdict({'a': [<Trap object>]})"),
        (lambda: OrderedDict(a=Trap()), "OrderedDict({'a': <Trap object>})"),
        (lambda: Counter("aab"), "Counter({'a': 2, 'b': 1})"),
        (lambda: deque([Trap()]), "deque([<Trap object>])"),
        (lambda: ValueError(Trap()), "ValueError(<Trap object>,)"),
        (lambda: {1: Trap()}.values(), "dict_values([<Trap object>])"),
        (lambda: slice(Trap()), "<slice object>"),
        (lambda: repeat(Trap()), "<repeat object>"),
        (lambda: SimpleNamespace(a=Trap()), "<SimpleNamespace object>"),
        (lambda: datetime(2026, 1, 2, tzinfo=TrapZone()), "<datetime object>"),
        (
            lambda: datetime(2026, 1, 2, tzinfo=UTC),
            "datetime.datetime(2026, 1, 2, 0, 0, tzinfo=datetime.timezone.utc)",
        ),
        (lambda: Decimal("1.5"), "Decimal('1.5')"),
        (lambda: map(str, []), "<map object>"),
        (lambda: np.array([1, 2]), "ndarray(shape=(2,), dtype=int64, [1, 2])"),
        (lambda: np.array([[1.5], [2.5]]), "ndarray(shape=(2, 1), dtype=float64, [[1.5], [2.5]])"),
        (lambda: np.array(3), "ndarray(shape=(), dtype=int64, 3)"),
        (lambda: np.array([Loud()], dtype=object), "ndarray(shape=(1,), dtype=object, [<Loud object>])"),
        (lambda: np.float64(1.5), "np.float64(1.5)"),
        (lambda: Fraction(1, 3), "Fraction(1, 3)"),
        (lambda: UUID(int=7), "UUID('00000000-0000-0000-0000-000000000007')"),
        (lambda: Path("/a/b"), "PosixPath('/a/b')"),
        (lambda: Path("a"), "PosixPath('a')"),
        (lambda: array("i", [1, 2]), "array('i', [1, 2])"),
        (lambda: re.compile("a"), "re.compile('a')"),
        (lambda: re.match("a", "ab"), "<re.Match object; span=(0, 1), match='a'>"),
        (lambda: [].append, "<builtin_function_or_method list.append>"),
        (lambda: Decimal("9" * 10_000), "<Decimal object>"),
    ],
)
def test_without_trust_no_code_of_a_class_is_run(make: Callable[[], object], text: str) -> None:
    assert render(make(), 200, False) == text


class SpyText(str):
    """A text that tells when its class is asked for anything."""

    def __str__(self) -> str:
        raise AssertionError("somebody wants the text of a text")

    def __format__(self, how: str) -> str:
        raise AssertionError("somebody formats a text")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("somebody compares a text")

    def __hash__(self) -> int:
        return str.__hash__(self)

    __repr__ = __str__


class SpyType(type):
    def __eq__(cls, other: object) -> bool:
        raise AssertionError("somebody compares the class")

    def __hash__(cls) -> int:
        raise AssertionError("somebody hashes the class")

    def __getattribute__(cls, name: str) -> object:
        raise AssertionError("somebody looks at the class")


def spies() -> list[tuple[object, str]]:
    """Objects that tell when code of theirs runs, and how they are shown."""

    class Spy(metaclass=SpyType):
        __module__ = SpyText("decimal")
        __qualname__ = SpyText("Decimal")

        def __repr__(self) -> str:
            raise AssertionError("somebody wants to see the object")

        __class__ = property(__repr__)
        __len__ = __iter__ = __bool__ = __hash__ = __eq__ = __repr__  # type: ignore[assignment]

    class SpyList(list, metaclass=SpyType):  # type: ignore[type-arg]
        pass

    class timezone(TrapZone):  # noqa: N801 (the name of the library's)
        pass

    def function() -> None:
        """Named by a text that is none."""

    function.__qualname__ = SpyText("function")
    re.purge()  # its cache would compare the pattern
    named = datetime(2026, 1, 2, tzinfo=real_timezone(timedelta(hours=1), SpyText("zone")))
    return [
        (object.__new__(Spy), "<Decimal object>"),
        (Spy, "<class Decimal>"),
        ([object.__new__(Spy)], "[<Decimal object>]"),
        (list.append.__get__(list.__new__(SpyList)), "<builtin_function_or_method append>"),
        (datetime(2026, 1, 2, tzinfo=timezone()), "<datetime object>"),
        (named, "<datetime object>"),
        (function, "<function function>"),
        (re.compile(SpyText("a")), "<Pattern object>"),
    ]


@pytest.mark.parametrize("number", range(8))
def test_nothing_that_a_class_says_of_itself_is_asked(number: int) -> None:
    value, text = spies()[number]
    assert render(value, 200, False) == text


def test_a_library_class_that_was_changed_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def loud(*_: object) -> str:
        raise AssertionError("somebody wants to see the object")

    third = Fraction(1, 3)
    monkeypatch.setattr(Fraction, "__repr__", loud)
    monkeypatch.setattr(Fraction, "_numerator", property(loud))
    assert render(third, 200, False) == "Fraction(None, 3)"


@pytest.mark.parametrize("many", [set, dict.fromkeys])
def test_an_emptied_table_costs_no_more_than_its_items(
    many: Callable[[range], set[int] | dict[int, None]],
) -> None:
    value = many(range(1_000_000))
    while len(value) > 10:
        value.pop() if isinstance(value, set) else value.popitem()
    begun = process_time()
    for _ in range(2_000):
        assert len(render(value, 200, False)) < 200
    assert process_time() - begun < 1


def test_as_python_writes_them_arrays_have_their_own_text() -> None:
    assert render(np.array([1, 2]), 200, AS_PYTHON) == "array([1, 2])"
    assert render([np.array([1])], 200, True) == "[ndarray(shape=(1,), dtype=int64, [1])]"


def test_a_large_array_costs_its_first_values_only() -> None:
    text = render(np.zeros((10_000, 1_000)), 10_000, False)
    assert text.startswith("ndarray(shape=(10000, 1000), dtype=float64, [[0.0, ")
    assert text.endswith(" …)") and text.count("0.0") == 144


def test_a_huge_number_is_not_written_out() -> None:
    assert render(1 << 100_000, 200, True) == "<int of 100001 bits>"


def test_a_value_that_holds_itself_ends() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert "…" in render(loop, 200, True)


def test_a_huge_container_costs_its_first_items_only() -> None:
    assert len(render(list(range(10_000_000)), 50, True)) == 50


def test_a_giant_container_costs_no_more_than_its_first_items() -> None:
    looked = [0]

    class Counted:
        def __repr__(self) -> str:
            looked[0] += 1
            return "counted"

    for many in (set, frozenset, list, tuple):
        looked[0] = 0
        assert render(many(Counted() for _ in range(20_000)), 200, True).count("counted") < 40
        assert looked[0] < 1000


class Feigned(dict[str, int]):
    """Says that it is a library's, and would run code when it is shown."""

    __module__ = "collections"
    __qualname__ = "OrderedDict"

    def keys(self) -> Any:
        raise AssertionError("somebody asked for its keys")

    __iter__ = items = __len__ = keys


class Dated:
    __module__ = "datetime"
    __qualname__ = "date"

    def __repr__(self) -> str:
        raise AssertionError("somebody asked it to show itself")


def test_a_class_with_a_librarys_name_runs_no_code_to_be_shown() -> None:
    assert render(Feigned(a=1), 200, False) == "OrderedDict({'a': 1})"
    assert render(Dated(), 200, False) == "<date object>"
