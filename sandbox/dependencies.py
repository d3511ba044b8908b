"""What may be installed: names are parsed and vetted here, never executed."""

import re
import shlex
from dataclasses import dataclass

from sandbox.package_names import normalize_distribution_name

MOST = 5
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_VERSION = re.compile(r"[0-9][A-Za-z0-9.!+_-]{0,40}")


class DependencyRefused(Exception):
    """What was asked for may not be installed, or cannot be; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One distribution, `version` empty where any will do. `str()` is what pip takes."""

    name: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name}=={self.version}" if self.version else self.name


def parse_requirement(text: str) -> Requirement:
    """Read `NAME` or `NAME==VERSION`; anything else, extras and options too, raises DependencyRefused."""
    name, separator, version = text.strip().partition("==")
    if not _NAME.fullmatch(name) or (separator and not _VERSION.fullmatch(version)):
        raise DependencyRefused(f"{text.strip()[:80]!r} is not NAME or NAME==VERSION")
    return Requirement(name, version)


def vet_requirements(texts: tuple[str, ...]) -> tuple[Requirement, ...]:
    """Vet a whole list: at most five, sorted, names as indexes compare them; raises DependencyRefused."""
    found: dict[str, Requirement] = {}
    for one in map(parse_requirement, texts):
        key = normalize_distribution_name(one.name)
        if found.setdefault(key, Requirement(key, one.version)).version != one.version:
            raise DependencyRefused(f"{one.name} is asked for in two versions")
    if len(found) > MOST:
        raise DependencyRefused(f"{len(found)} distributions are asked for; {MOST} is the most")
    return tuple(found[key] for key in sorted(found))


def parse_install(text: str) -> tuple[str, ...]:
    """Requirements of `pip install …` lines; options, URLs, paths, shell text raise DependencyRefused.

    >>> parse_install("pip install requests==2.32.3\\npip install numpy")
    ('numpy', 'requests==2.32.3')
    """
    lines = [line for line in text.splitlines() if line.strip()] or [text]
    words = tuple(word for line in lines for word in _installed_by(line))
    return tuple(map(str, vet_requirements(words)))


def _installed_by(text: str) -> list[str]:
    """What follows `pip install` in one line, as it stands there."""
    try:
        words = shlex.split(text, posix=True)
    except ValueError as error:
        raise DependencyRefused(f"{text[:80]!r} cannot be read: {error}") from error
    for prefix in (["pip", "install"], ["pip3", "install"], ["python", "-m", "pip", "install"]):
        if words[: len(prefix)] == prefix and len(words) > len(prefix):
            return words[len(prefix) :]
    raise DependencyRefused(f"{text[:80]!r} is not `pip install NAME[==VERSION] …`")
