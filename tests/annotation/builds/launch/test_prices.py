"""Shipped prices fill gaps, once, and never touch what a person entered."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.builds.launch import prices
from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import LaunchRefused, Order
from annotation.models import Price
from tests import factories

pytestmark = pytest.mark.django_db
HAIKU = "claude-haiku-4-5"


def rows() -> list[tuple[Any, ...]]:
    return list(Price.objects.values_list("pk", "model", "effective_from", "input", "output", "source"))


def test_every_shipped_price_is_whole_and_says_where_it_was_read() -> None:
    entries = prices.load_shipped_prices()
    assert {HAIKU, "deepseek-flash"} <= {entry.model for entry in entries}
    assert len({(entry.model, entry.effective_from) for entry in entries}) == len(entries)
    for entry in entries:
        assert 0 < entry.cache_read < entry.input < entry.output, entry.model
        assert entry.cache_write >= entry.input, entry.model
        assert "as read in" in entry.source
        assert max(len(entry.source), len(entry.note)) <= 200


def test_what_is_missing_is_filled_in_once() -> None:
    assert HAIKU in prices.fill_missing_prices().new
    before = rows()
    done = prices.fill_missing_prices()
    assert (done.new, len(done.known)) == ((), len(before))
    assert rows() == before
    price = Price.objects.at(HAIKU, datetime(2026, 11, 22, tzinfo=UTC))
    assert price is not None and price.cost(1_000_000, 1_000_000) == 6 * 10**9


def test_a_model_whose_price_somebody_entered_is_left_alone() -> None:
    mine = Price.objects.create(
        model=HAIKU, effective_from=datetime(2026, 1, 1, tzinfo=UTC), input=Decimal("0.8"), output=4
    )
    assert prices.fill_missing_prices().own == (HAIKU,)
    assert Price.objects.at(HAIKU, timezone.now()) == mine


def test_a_shipped_price_that_somebody_corrects_is_theirs_from_then_on(ada: Client) -> None:
    prices.fill_missing_prices()
    price = Price.objects.get(model=HAIKU)
    form = {
        "model": HAIKU,
        "effective_from_0": "2026-11-01",
        "effective_from_1": "00:00",
        "input": "0.9",
        "output": "4.5",
        "cache_read": "0",
        "cache_write": "0",
        "note": "with our discount",
    }
    ada.post(reverse("admin:annotation_price_change", args=[price.pk]), form)
    price.refresh_from_db()
    assert (price.input, price.source) == (Decimal("0.9"), "")
    assert HAIKU in prices.fill_missing_prices().own


def test_the_command_says_what_it_did_and_shows_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    Price.objects.create(model="deepseek-flash", effective_from=timezone.now(), input=1, output=2)
    call_command("prices", "load")
    told = capsys.readouterr().out
    assert f"filled in     {HAIKU}" in told
    assert "yours         deepseek-flash" in told
    call_command("prices", "list")
    told = capsys.readouterr().out
    assert (
        f"{HAIKU}  from 2026-11-01  $1 in, $5 out, cache $0.1 read, $1.25 written  (Anthropic's documentation"
        in told
    )
    assert "$1 in, $2 out, cache $1 read, $1.25 written  (entered by a person)" in told


def test_a_price_of_input_and_output_alone_never_counts_too_little() -> None:
    price = Price(model="m", input=Decimal(4), output=Decimal(8))
    assert price.cost(100, 10, cache_read=1000, cache_write=200) == 1000 * (
        4 * 100 + 8 * 10 + 4 * 1000 + 5 * 200
    )
    assert price.most(1300, 10) == 1000 * (5 * 1300 + 8 * 10) >= price.cost(100, 10, 1000, 200)


def test_a_cache_price_that_somebody_entered_counts_as_it_is_also_0() -> None:
    price = Price(
        model="m", input=Decimal(4), output=Decimal(8), cache_read=Decimal("0.4"), cache_write=Decimal(0)
    )
    assert price.cost(100, 10, cache_read=1000, cache_write=200) == 1000 * (4 * 100 + 8 * 10) + 400_000
    assert price.most(1300, 10) == price.cost(1300, 10)


def test_a_refused_launch_points_to_the_shipped_price(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    order = Order("new", factories.queries(), factories.snippets(), ("bm25",), provider="live", model=HAIKU)
    with pytest.raises(LaunchRefused, match="prices load"):
        launch_build(order)
    prices.fill_missing_prices()
    assert launch_build(order).pk
