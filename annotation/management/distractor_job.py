"""Proves planted bugs in this machine's sandbox, as a page or a command orders it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from annotation.builds.pipeline.execution import SandboxProvider, keep_found
from annotation.derived.distractors import job as distractors
from annotation.jobs.providers import open_configured
from retrieval.models import Job
from sandbox.program import Limits


@contextmanager
def use_configured_sandbox() -> Iterator[SandboxProvider]:
    """The sandbox of the settings, closed at the end."""
    provider = SandboxProvider(open_configured, keep_found)
    try:
        yield provider
    finally:
        provider.close()


def perform_distractor_job(job: Job) -> None:
    """Prove and publish what was ordered."""
    with use_configured_sandbox() as provider:
        distractors.perform_distractor_job(job, provider, Limits())
