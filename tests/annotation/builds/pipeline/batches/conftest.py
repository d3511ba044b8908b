"""A provider that takes batches, and tools that ask it; nothing waits for the clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from annotation.builds.pipeline import batches
from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import ANTHROPIC
from annotation.models import Price
from tests.annotation.builds.pipeline.batches.by_batch import MODEL, PLAIN
from tests.fake_messages import FakeMessages
from tests.fakes import FakeSandbox


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[FakeMessages]:
    for name in ("QUIET", "FILLS", "FIRST_PAUSE", "SETTLES"):
        monkeypatch.setattr(batches, name, timedelta(0))
    monkeypatch.setattr("annotation.models.builds.batches.FILLS", timedelta(0))
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
