"""The second opinion is asked where it is installed, and counts where it is sure."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

import pytest

from retrieval.sources import detector


@dataclass
class FakeMagika:
    """Answers java, as sure as the text is long."""

    def identify_bytes(self, content: bytes) -> SimpleNamespace:
        return SimpleNamespace(output=SimpleNamespace(label="java"), score=len(content) / 10)


def test_without_the_extra_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detector, "find_spec", lambda name: None)
    assert detector.magika() is None


def test_what_it_is_not_sure_of_has_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("magika")
    module.Magika = FakeMagika  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "magika", module)
    monkeypatch.setattr(detector, "find_spec", lambda name: object())
    detect = detector.magika()
    assert detect is not None
    assert (detect("long enough"), detect("four")) == ("java", "")
