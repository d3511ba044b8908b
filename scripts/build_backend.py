"""Hatchling as it is, and a wheel has the site of the documentation, too (PEP 517, `backend-path`)."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from hatchling import build as hatchling
from hatchling.build import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
)

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


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    return [*hatchling.get_requires_for_build_wheel(config_settings), *SITE]


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Make the site first: pyproject.toml puts it into the wheel."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import_module("build_docs").build()
    return str(hatchling.build_wheel(wheel_directory, config_settings, metadata_directory))
