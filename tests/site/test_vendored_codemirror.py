"""The committed editor bundle: made from the committed lock file, licensed, and fit for a strict CSP."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENDOR = ROOT / "static" / "vendor" / "codemirror"


def versions() -> dict[str, str]:
    found: dict[str, str] = json.loads((VENDOR / "versions.json").read_text())
    return found


def test_the_bundle_has_the_versions_of_the_lock_file() -> None:
    locked = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]

    assert versions() == {name: locked[f"node_modules/{name}"]["version"] for name in versions()}


def test_every_bundled_package_comes_with_its_licence() -> None:
    licences = (VENDOR / "LICENSES.txt").read_text()

    assert all(f"{name} {version}\n" in licences for name, version in versions().items())
    assert licences.count("Permission is hereby granted, free of charge") == len(versions())


def test_the_bundle_evaluates_no_text() -> None:
    assert not re.search(r"\beval\(|new Function", (VENDOR / "codemirror.js").read_text())


def test_our_scripts_take_only_what_the_bundle_exports() -> None:
    editor = (ROOT / "static" / "js" / "editor.js").read_text()
    entry = (ROOT / "frontend" / "codemirror.js").read_text()
    wanted = re.search(r"import \{([^}]*)\} from \"\.\./vendor", editor)
    exported = {
        name.strip() for group in re.findall(r"export \{([^}]*)\}", entry) for name in group.split(",")
    }

    assert wanted
    assert {name.strip() for name in wanted[1].split(",") if name.strip()} == exported
