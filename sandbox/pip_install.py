"""How packages are installed: the same pip command on both backends, and what its failures mean.

Only wheels, so that nothing of a package runs at install; only parsed names; no files of the caller but
those that its pip settings name. `.pth` files in a layer are never executed: the harness adds the folder to
`sys.path` itself.
"""

import json
import logging
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sandbox.dependencies import DependencyRefused, Requirement, parse_requirement
from sandbox.protocol import SandboxUnavailable

log = logging.getLogger(__name__)
INSTALL_SECONDS = 300
PACKAGES_AS_OF = "2026-11-01"
"""The usual cut-off: the day as of which the image's packages were chosen.

A fixed day, so that all installations of a release get the same files; in the past, so that what was uploaded
by somebody who took a project over has been found out.
"""
_UNREACHABLE = re.compile(
    r"ConnectionError|NewConnection|ConnectTimeout|ReadTimeout|ProxyError|SSLError|Errno -?\d"
)
_NOT_FOUND = re.compile(
    r"No matching distribution found|Could not find a version|ResolutionImpossible|conflict"
)
_ADDRESS = re.compile(r"ERROR: (\S+) is wanted from an address")
_UNDATED = re.compile(r"does not provide upload-time metadata")


@dataclass(frozen=True, slots=True)
class PipSettings:
    """What reaches pip in the install sandbox: PIP_* variables, files they name, newest upload date.

    With `uploaded_before` a file whose upload time the index does not tell is refused, unless `undated`: then
    those of local folders and indexes are taken. `layers_mb` caps what is kept installed.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    uploaded_before: str = ""
    undated: bool = False
    layers_mb: int = 10_240

    def sources(self) -> str:
        """What decides which file a requirement becomes: part of a layer's name."""
        settings = sorted(item for item in self.environment.items() if item[0] in _SOURCES)
        # Programs see the name: it must not help to guess a password.
        named = [(name, " ".join(map(_without_credentials, value.split()))) for name, value in settings]
        return json.dumps([named, self.uploaded_before, self.undated])

    def hide_credentials(self, text: str) -> str:
        """The text without what stands before the @ of an address in the settings."""
        for word in " ".join(self.environment.values()).split():
            credentials = urlsplit(word).netloc.rpartition("@")[0]
            for secret in (credentials, unquote(credentials), *credentials.split(":")[1:]):
                text = text.replace(secret, "****") if secret else text
        return text

    def as_file(self) -> str:
        """The PIP_* variables as the text of a pip.conf."""
        options = {name: value for name, value in self.environment.items() if name.startswith("PIP_")}
        lines = (f"{name[4:].lower().replace('_', '-')} = {value}" for name, value in options.items())
        return "\n".join(["[global]", *lines, ""])

    def dated(self) -> "PipSettings":
        """The same without the sources that pip takes whatever the date: local folders and indexes."""
        if self.undated or not self.uploaded_before:
            return self
        sources = {name: _remote(self.environment.get(name, "")) for name in _PLACES}
        kept = {**self.environment, **sources}
        if self.environment.get("PIP_INDEX_URL") and not sources["PIP_INDEX_URL"]:
            kept["PIP_NO_INDEX"] = "1"  # otherwise pip would ask its usual index
        return replace(self, environment={name: value for name, value in kept.items() if value})

    def skips(self) -> bool:
        """Whether `dated` leaves a source out."""
        return self.dated().environment != self.environment


def machine_settings(environment: Mapping[str, str]) -> tuple[dict[str, str], tuple[Path, ...]]:
    """pip's settings on this machine, as `pip_environment` and `pip_files` for `open_sandbox`.

    They come from pip itself (`pip config list`: files and PIP_* variables alike) and the proxy variables of
    `environment`.
    """
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, env=dict(environment)
    )
    settings = {name: environment[name] for name in _PROXIES if environment.get(name)}
    for line in listed.stdout.splitlines():
        name, _, value = line.partition("=")
        option = name.rpartition(".")[2]
        if option in _OPTIONS:
            settings["PIP_" + option.upper().replace("-", "_")] = " ".join(shlex.split(value))
    return settings, tuple(_named_files(settings))


@cache
def load_pinned_requirements(name: str = "requirements.txt") -> tuple[Requirement, ...]:
    """The requirements of a list in sandbox/image, without comments."""
    lines = files("sandbox.image").joinpath(name).read_text().splitlines()
    return tuple(parse_requirement(line) for line in lines if line.strip() and not line.startswith("#"))


def build_pip_arguments(
    requirements: Sequence[Requirement], target: str, settings: PipSettings, resolve: bool
) -> list[str]:
    """What follows `python -m pip`."""
    options = ["--only-binary=:all:", "--no-input", "--no-cache-dir", "--disable-pip-version-check"]
    options += ["--no-compile"]  # the install sandbox does it itself, without the packages' own tests
    options += [] if resolve else ["--no-deps"]
    if settings.uploaded_before and resolve:
        options.append(f"--uploaded-prior-to={settings.uploaded_before}")
    return ["install", "--quiet", *options, "--target", target, "--", *map(str, requirements)]


def diagnose_pip_failure(
    requirements: Sequence[Requirement], output: str, settings: PipSettings
) -> Exception:
    """What a failed install means: DependencyRefused when no index may give it, SandboxUnavailable else.

    The message is evidence, the same on every machine; what to set on this one goes to the log.
    """
    names = " ".join(map(str, requirements))
    if _UNDATED.search(output):
        log.warning("%s: the index does not tell when its files were uploaded; %s", names, _ALLOW)
        return DependencyRefused(f"nobody knows when {names} was uploaded: the index does not tell")
    if address := _ADDRESS.search(output):
        return DependencyRefused(f"{names} needs {address[1]} from an address, not from an index")
    errors = [line for line in output.splitlines() if "ERROR" in line] or output.splitlines()[-3:]
    told = settings.hide_credentials(" ".join(" ".join(errors).split()))[:300]
    if _NOT_FOUND.search(output) and not _UNREACHABLE.search(output):
        if settings.skips():
            log.warning(
                "%s: local folders and indexes were not asked, as they tell no dates; %s", names, _ALLOW
            )
        return DependencyRefused(f"no wheel to install for {names}: {told}")
    return SandboxUnavailable(f"installing {names} failed: {told}")


_ALLOW = "`undated` (COSQA_PIP_UNDATED) allows local ones, no `uploaded_before` (COSQA_PIP_CUTOFF=none) all"
# Where packages come from and how they are fetched; not where they go, nor what is installed.
_OPTIONS = frozenset(
    {"cert", "client-cert", "default-timeout", "extra-index-url", "find-links", "index-url", "no-index"}
    | {"proxy", "retries", "timeout", "trusted-host"}
)
_PLACES = ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_INDEX_URL")
_SOURCES = frozenset({*_PLACES, "PIP_NO_INDEX"})
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy")


def _remote(sources: str) -> str:
    """Those of the words that are addresses on a network."""
    return " ".join(word for word in sources.split() if urlsplit(word).scheme in ("http", "https"))


def _without_credentials(word: str) -> str:
    address = urlsplit(word)
    return address._replace(netloc=address.netloc.rpartition("@")[2]).geturl() if address.netloc else word


def _named_files(settings: Mapping[str, str]) -> list[Path]:
    words = [word for name, value in settings.items() if name not in _PROXIES for word in value.split()]
    paths = [
        _index_folder(Path(urlsplit(word).path)) if word.startswith("file:") else Path(word) for word in words
    ]
    return sorted({path for path in paths if path.is_absolute() and path.exists()})


def _index_folder(path: Path) -> Path:
    # The pages of a local index under simple/ link to files beside it.
    return path.parent if path.name == "simple" else path
