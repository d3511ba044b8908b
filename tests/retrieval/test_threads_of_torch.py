"""Parts beside each other come back in order, and torch has its threads again afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest
import torch

from retrieval.threads import side_by_side


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_what_is_found_is_in_order_by_threads_of_one_core() -> None:
    def work(part: int) -> tuple[int, int]:
        time.sleep(0.02 if part == 0 else 0)
        return part, torch.get_num_threads()

    assert list(side_by_side(work, range(5), "cpu")) == [(part, 1) for part in range(5)]
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize(("parts", "device"), [(range(1), "cpu"), (range(3), "cuda")])
def test_one_part_and_a_graphics_card_have_all_threads(parts: range, device: str) -> None:
    assert set(side_by_side(lambda _: torch.get_num_threads(), parts, device)) == {2}


def test_what_has_not_begun_never_does_where_one_is_refused() -> None:
    begun: list[int] = []

    def work(part: int) -> int:
        begun.append(part)
        time.sleep(0.01)
        if part == 1:
            raise ValueError("no such token")
        return part

    with pytest.raises(ValueError, match="no such token"):
        list(side_by_side(work, range(50), "cpu"))
    assert len(begun) < 10
    assert torch.get_num_threads() == 2


def test_who_stops_taking_stops_the_work() -> None:
    begun: list[int] = []

    def work(part: int) -> int:
        begun.append(part)
        time.sleep(0.01)
        return part

    with closing(side_by_side(work, range(50), "cpu")) as found:
        next(found)
    assert len(begun) < 10
    assert torch.get_num_threads() == 2
