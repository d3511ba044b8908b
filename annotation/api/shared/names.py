"""Collections, benchmarks and builds as callers name them: by an id, a name, or `name@version`."""

from __future__ import annotations

from annotation.accounts.roles import Visitor, benchmarks_visible_to, builds_visible_to
from annotation.models import Build
from retrieval.models import Benchmark, Collection
from retrieval.models.versions import find_version


class NoSuchName(LookupError):
    """Nothing that the caller may see is called so; the message says where the names are listed."""


def find_collection(wanted: int | str, kind: str) -> Collection:
    """The collection of a kind; of a bare name the newest version. Raises NoSuchName."""
    found: Collection | None = find_version(Collection.objects.filter(kind=kind), wanted)
    if found is None:
        noun = Collection.Kind(kind).noun
        raise NoSuchName(
            f"There is no collection of {noun} called {wanted!r}; GET /api/collections lists them."
        )
    return found


def find_benchmark(user: Visitor, wanted: int | str) -> Benchmark:
    """The benchmark; of a bare name the newest version. Raises NoSuchName."""
    found: Benchmark | None = find_version(benchmarks_visible_to(user), wanted)
    if found is None:
        raise NoSuchName(f"There is no benchmark called {wanted!r}; GET /api/benchmarks lists them.")
    return found


def find_build(user: Visitor, wanted: int | str) -> Build:
    """Raises NoSuchName."""
    rows = builds_visible_to(user)
    found = rows.filter(pk=wanted) if isinstance(wanted, int) else rows.filter(name=wanted)
    build = found.first()
    if build is None:
        raise NoSuchName(f"There is no build called {wanted!r}; GET /api/builds lists them.")
    return build


def written_id(text: str) -> int | str:
    """A form's value: digits alone are an id, anything else is a name."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else text
