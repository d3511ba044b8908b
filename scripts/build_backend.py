"""Hatchling, and what a wheel has beyond the package `cosqa`: the application and its documentation.

This is the backend (PEP 517, `backend-path`) and Hatchling's hook. An editable installation gets neither: it
finds both in the checkout, and needs no Sphinx.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from hatchling import build as hatchling
from hatchling.build import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
)
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]
SITE: Final = ("furo>=2025.12", "myst-parser>=5.1", "sphinx>=9.0")
"""As the extra `docs` of pyproject.toml has them; a test compares."""
INSIDE: Final = (
    "annotation",
    "build/docs",
    "cosqa_site",
    "manage.py",
    "retrieval",
    "sample",
    "sandbox",
    "static",
    "templates",
)


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    return [*hatchling.get_requires_for_build_wheel(config_settings), *SITE]


class Application(BuildHookInterface):  # type: ignore[misc]  # hatchling is not typed
    """Puts what lies beside `cosqa` in a checkout into a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the site first, as the wheel is to have it."""
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root) / "scripts"))
        import_module("build_docs").build()
        places = {str(Path(self.root) / name): f"cosqa/_app/{name}" for name in INSIDE}
        build_data["force_include"].update(places)
