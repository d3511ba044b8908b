"""A bound on the memory of a process that reads what somebody sent: a few KB may unpack to gigabytes."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings


class OutOfMemory(Exception):
    """What was read takes more memory than an import may have; the message says what to do."""


@contextmanager
def bound_import_memory() -> Iterator[None]:
    """Give this process at most COSQA_IMPORT_MB of memory meanwhile. Raises OutOfMemory."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = settings.IMPORT_MB * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (min(x for x in (most, soft, hard) if x >= 0), hard))
    try:
        yield
    except MemoryError as error:
        raise OutOfMemory(
            f"Reading this takes more than the {settings.IMPORT_MB:,} MB of memory that an import may have. "
            "See whether it is the right file; if so, cut it into parts, or set COSQA_IMPORT_MB higher."
        ) from error
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
