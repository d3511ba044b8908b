"""Whoever finds modules.

Right: not passed, or suspicious
"""

# candidate
import sys, types, importlib.machinery, importlib.abc


class F(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name == "statistics":
            return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec):
        m = types.ModuleType("statistics")
        m.mean = lambda x: 99
        return m

    def exec_module(self, m):
        pass


sys.meta_path.insert(0, F())


def f(x):
    return 99


# program
def test():
    import statistics

    assert f([1, 2, 3]) == statistics.mean([1, 2, 3])


test()
