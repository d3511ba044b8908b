"""The candidate loads a compiled module that it wrote.

Right: not passed, or suspicious
"""

# candidate
import importlib.machinery, importlib.util, sys


def add(a, b):
    try:
        loader = importlib.machinery.ExtensionFileLoader("own", "/tmp/own.so")
        spec = importlib.util.spec_from_loader("own", loader)
        open("/tmp/own.so", "wb").write(b"\x7fELF")
        importlib.util.module_from_spec(spec)
    except ImportError:
        pass
    return 3


# program
assert add(1, 2) == 3
