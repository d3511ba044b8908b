import ast

import pytest

from sandbox.candidate.name_rebinding import has_rebound_names


@pytest.mark.parametrize(
    "source",
    [
        "import __main__\n__main__.f = 3",
        "import sys\nmain = sys.modules['__main__']\nmain.f = lambda: 3",
        "import sys\nmain, real = sys.modules['__main__'], f\nsetattr(main, 'f', 3)",
        "__import__('__main__').f = 3",
        "import importlib as i\nmain = i.import_module('__main__')\ndel main.f",
        "globals().update(f=3)",
        "vars().update({'f': 3})",
        "main.__dict__['f'] = 3",
        "f.__globals__.pop('f')",
        "globals().__setitem__('f', 3)",
        "globals()['f'] = 3",
        "exec('def f():\\n    return 3')",
        "exec('globals().update(f=1)')",
        "f.__defaults__ = (1,)",
        "f.__code__ = g.__code__",
        "with mock.patch('__main__.f', return_value=3):\n    pass",
    ],
)
def test_ways_around_a_binding_are_seen(source: str) -> None:
    assert has_rebound_names(ast.parse(source), frozenset({"f"}))


@pytest.mark.parametrize(
    "source",
    [
        "self.f = 3",
        "found = {}\nfound.update(f=3)\nfound['f'] = 4\nfound.pop('f')",
        "setattr(thing, 'f', 3)",
        "globals()['g'] = f",
        "globals().update(g=f)",
        "exec('f(3)')",
        "exec('not python (')",
        "if __name__ == '__main__':\n    main()",
    ],
)
def test_what_leaves_the_candidate_alone_is_none_of_them(source: str) -> None:
    assert not has_rebound_names(ast.parse(source), frozenset({"f"}))
