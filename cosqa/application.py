"""Where the application's packages lie, and how this process and its children come to import them.

A wheel has them in `cosqa/_app`, so that `cosqa` is its only name among those of other projects. In a
checkout they lie beside `cosqa`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final

PACKAGES: Final = ("annotation", "cosqa_site", "retrieval", "sandbox")
"""The names that other projects may have, too."""
MODULES: Final = (*PACKAGES, "manage")


class ForeignPackage(ImportError):
    """A package of another project is loaded under the name of one of ours; the message says which."""


def find_application() -> Path:
    """The folder that has the packages of `PACKAGES`."""
    here = Path(__file__).resolve().parent
    installed = here / "_app"
    return installed if installed.is_dir() else here.parent


def refuse_foreign_packages(names: Iterable[str]) -> None:
    """Raises ForeignPackage where a module of another project is loaded under one of these names."""
    folder = find_application()
    for name in names:
        module = sys.modules.get(name)
        if module is not None and not is_inside(module, folder):
            raise ForeignPackage(
                f"Another package called {name!r} is loaded ({place_of(module)}), so ours can't be. "
                "Restart Python and import cosqa's names first."
            )


def is_inside(module: object, folder: Path) -> bool:
    return Path(place_of(module)).resolve().is_relative_to(folder.resolve())


def place_of(module: object) -> str:
    """The module's file, or the folder of a package that has none."""
    file = getattr(module, "__file__", None)
    return str(file or next(iter(getattr(module, "__path__", ())), "no file"))


def enter_application() -> None:
    """Put the application first on the path of this process and of the Python processes that it starts.

    Raises ForeignPackage.
    """
    refuse_foreign_packages(MODULES)
    folder = str(find_application())
    sys.path.insert(0, folder)
    for name in MODULES:  # Celery puts the working directory first on the path later
        import_module(name)
    given = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{given}" if given else folder


@contextmanager
def application_first() -> Iterator[None]:
    """Import packages of the application inside, in a process that is not ours, and leave its path as it was.

    Raises ForeignPackage.
    """
    refuse_foreign_packages(PACKAGES)
    folder = str(find_application())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def find_data_folder() -> Path:
    """Where data go that no setting names another place for; the same as the application's."""
    given = os.environ.get("COSQA_HOME")
    if given:
        return Path(given).expanduser().resolve()
    folder = find_application()
    if folder.name != "_app":
        return folder / "var"
    from platformdirs import user_data_path

    return user_data_path("cosqa", appauthor=False)
