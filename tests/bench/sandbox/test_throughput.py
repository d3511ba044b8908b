"""The sandbox's bench in its smallest form: the figures that it promises are there."""

from __future__ import annotations

import os
from typing import Any

import pytest

from annotation.jobs import providers
from bench.measure import clock
from bench.sandbox import throughput
from sandbox.runner import Backend, Sandbox, SandboxUnavailable

BACKENDS = {"bubblewrap", "docker"}
SMALL = {"PROGRAMS": 4, "CONTAINERS": 2, "ALONE": 2, "REFILL_SECONDS": 0.0, "MEMORY_PROGRAMS": 3}


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the bench measures here; Docker only where the tests may use it."""

    def opened(backend: Backend, forks: bool = False) -> Sandbox:
        if backend == "docker" and not os.environ.get("COSQA_TEST_DOCKER"):
            raise SandboxUnavailable("COSQA_TEST_DOCKER is not set")
        return providers.open_configured(backend, forks=forks)

    monkeypatch.setattr(throughput, "open_configured", opened)
    monkeypatch.setattr(clock, "ROUNDS", 1)
    for name, value in SMALL.items():
        monkeypatch.setattr(throughput, name, value)
    try:
        return dict(throughput.measure_sandbox())
    except SandboxUnavailable as why:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(why))


def test_each_backend_has_its_ratios(found: dict[str, Any]) -> None:
    expected = set()
    if "bubblewrap" not in found["missing"]:
        expected |= {"bubblewrap_throughput", "bubblewrap_traced_throughput"}
        expected |= {"forked_throughput", "forked_traced_throughput", "forked_pandas_throughput"}
    if "docker" not in found["missing"]:
        expected |= {"docker_throughput", "docker_warm_latency"}
    assert set(found["ratios"]) == expected
    assert all(ratio > 0 for ratio in found["ratios"].values())
    assert all(found[backend]["milliseconds"]["call"]["p95"] > 0 for backend in found.keys() & BACKENDS)
    assert all(found[backend]["processor_milliseconds"]["busy"] > 0 for backend in found.keys() & BACKENDS)
    assert found["memory"]["programs"] == 3
