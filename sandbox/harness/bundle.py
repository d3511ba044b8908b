"""Packs the harness into a file for each of its entries: one file loads much sooner than thirty modules.

Run with the folder of the harness by the interpreter that will load it, when the harness is installed. A file
has the code of a loader and that of the modules, each after those that it imports.
"""

from __future__ import annotations

import ast
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

_ENTRIES = ("supervisor", "fork_server")
_PACKAGE = "sandbox.harness"
# Given `parts`. The modules look up built-in names in a place of their own, not where programs change them.
_LOADER = """
import builtins, sys
own = {**vars(builtins)}
for name, code in parts:
    module = sys.modules[name] = type(sys)(name)
    module.__file__, module.__builtins__ = code.co_filename, own
    exec(code, vars(module))
"""


def pack(folder: str, inside: str = "/harness") -> None:
    """Write the files of a harness in `folder`, which is `inside` once it is loaded."""
    for entry in _ENTRIES:
        codes: dict[str, CodeType] = {}
        _collect(f"{_PACKAGE}.{entry}", folder, inside, codes)
        loader = compile(_LOADER, f"{inside}/loader", "exec", dont_inherit=True, optimize=2)
        with open(f"{folder}/sandbox/{entry}.bundle", "wb") as file:
            marshal.dump((loader, [*codes.items()]), file)


def _collect(name: str, folder: str, inside: str, codes: dict[str, CodeType]) -> None:
    """Add a module after its packages and what it imports at once."""
    path = f"{name.replace('.', '/')}.py"
    if not os.path.exists(f"{folder}/{path}"):
        path = f"{name.replace('.', '/')}/__init__.py"
    if name in codes or not os.path.exists(f"{folder}/{path}"):
        return  # a name of the package that is no module
    with open(f"{folder}/{path}", "rb") as file:
        source = file.read()
    package = name.rpartition(".")[0]
    if package:
        _collect(package, folder, inside, codes)
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.ImportFrom) and str(statement.module).startswith(_PACKAGE):
            for one in (statement.module, *(f"{statement.module}.{alias.name}" for alias in statement.names)):
                _collect(str(one), folder, inside, codes)
    codes[name] = compile(source, f"{inside}/{path}", "exec", dont_inherit=True, optimize=2)


if __name__ == "__main__":
    pack(sys.argv[1])
