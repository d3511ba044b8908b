"""The sandbox's packages, shared by all tests: it takes half a minute to install them."""

from __future__ import annotations

import os
from pathlib import Path


def shared() -> Path:
    """A folder that stays, and that the user whom root drops to can enter."""
    folder = Path(f"/var/tmp/cosqa-sandbox-tests-{os.geteuid()}")
    folder.mkdir(mode=0o755, exist_ok=True)
    return folder


def share(home: Path) -> None:
    """Let the workbench whose data is in `home` use them."""
    link = home / "sandbox"
    if not link.is_symlink():
        link.symlink_to(shared())
