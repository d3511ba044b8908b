"""Which Python a text needs: what this server's parser reads needs none that is newer."""

import ast

import pytest

from retrieval.filters import newer_syntax
from retrieval.filters.newer_syntax import find_needed_version

NEWER = {
    "def f[T](x: T) -> T:\n    return x": (3, 12),
    "class A[T]:\n    def f(self):\n        return 1": (3, 12),
    "def f():\n    type X = int\n    return X": (3, 12),
    "def f(d):\n    return f'{d['a']}'": (3, 12),
    'def f(d):\n    return f"{"-".join(d)} {d}"': (3, 12),
    "def f(d):\n    return f'{'\\n'.join(d)}'": (3, 12),
    "def f(d):\n    return f'''{\n        d  # it\n    }'''": (3, 12),
    "def f(d):\n    return f'{\n        d\n    }'": (3, 12),
    "def f(x):\n    return t'{x}'": (3, 14),
    "def f():\n    try:\n        g()\n    except A, B:\n        return 1": (3, 14),
    "def f[T](x):\n    return t'{x}'": (3, 14),
}
OTHER = [
    "def f(x):\n    return list[int](x)",
    "def f(x: list[int]) -> dict[str, int]:\n    return f'{x[\"a\"]} # {x!r:>{10}}'",
    "type = 3\nprint(type)",
    "def f():\n    try:\n        g()\n    except (A, B):\n        return '\\n'",
    "def f():\n    print 'a'",
    "def f():\n    try:\n        g()\n    except A, e:\n        print e",
    "def f(a=1, b):\n    return 1",
    "def f(a):\n    return (a +",
    "List<String> names = new ArrayList<>();",
    "",
]


@pytest.mark.parametrize("code", NEWER)
def test_newer_syntax_is_found_where_the_parser_refuses_it(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newer_syntax, "HERE", (3, 11))
    assert find_needed_version(code) == NEWER[code]
    monkeypatch.setattr(newer_syntax, "HERE", NEWER[code])
    assert find_needed_version(code) is None  # here it runs


@pytest.mark.parametrize("code", OTHER)
def test_what_is_not_newer_needs_none(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newer_syntax, "HERE", (3, 11))
    assert find_needed_version(code) is None


@pytest.mark.parametrize("code", [code for code, version in NEWER.items() if version > newer_syntax.HERE])
def test_the_parser_here_refuses_each_of_them(code: str) -> None:
    with pytest.raises(SyntaxError):
        ast.parse(code)
