from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from itertools import repeat
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.harness.values import render

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
        (lambda: np.array([1, 2]), "array([1, 2])"),
        (lambda: np.array([None], dtype=object), "<ndarray object>"),
    ],
)
def test_without_trust_no_code_of_a_class_is_run(make: Callable[[], object], text: str) -> None:
    assert render(make(), 200, False) == text


def test_a_huge_number_is_not_written_out() -> None:
    assert render(1 << 100_000, 200, True) == "<int of 100001 bits>"


def test_a_value_that_holds_itself_ends() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert "…" in render(loop, 200, True)


def test_a_huge_container_costs_its_first_items_only() -> None:
    assert len(render(list(range(10_000_000)), 50, True)) == 50
