"""A provider that takes batches, and tools that ask it; nothing waits for the clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from annotation import batching
from annotation.executing import SandboxProvider
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import ANTHROPIC
from annotation.models import Price
from annotation.pipeline import Tools
from tests.annotation.batching.by_batch import MODEL, PLAIN
from tests.fake_messages import FakeMessages
from tests.fakes import FakeSandbox


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[FakeMessages]:
    for name in ("QUIET", "FILLS", "FIRST_PAUSE", "SETTLES"):
        monkeypatch.setattr(batching, name, timedelta(0))
    monkeypatch.setattr("annotation.models.batches.FILLS", timedelta(0))
    Price.objects.create(
        model=MODEL, effective_from=datetime(2026, 1, 1, tzinfo=UTC), input=Decimal(1), output=Decimal(5)
    )
    with FakeMessages(answer=lambda body: PLAIN) as server:
        yield server


@pytest.fixture
def tools(fake: FakeMessages) -> Iterator[Tools]:
    llm = LiveLLM(fake.key, ANTHROPIC, base_url=fake.url)
    yield Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))
    llm.close()
