"""Texts of at most 100,000 characters that each try to cost whoever reads them far more than they should."""

from collections.abc import Callable
from itertools import count

LONGEST = 100_000


def filled(unit: str, head: str = "", tail: str = "") -> str:
    """`unit` again and again between `head` and `tail`."""
    return head + unit * ((LONGEST - len(head) - len(tail)) // len(unit)) + tail


def numbered(unit: Callable[[int], str], head: str = "", tail: str = "") -> str:
    """`unit` of 0, of 1 … between `head` and `tail`."""
    parts, left = [head], LONGEST - len(head) - len(tail)
    for number in count():
        part = unit(number)
        left -= len(part)
        if left < 0:
            return "".join(parts) + tail
        parts.append(part)
    raise AssertionError("a text has an end")


def nested(opening: str, closing: str, times: int, inner: str = "1") -> str:
    """`inner` in so many brackets."""
    return opening * times + inner + closing * times


def blocks(line: Callable[[int], str], depth: int, inner: str) -> str:
    """`inner` as the last line of blocks in blocks."""
    return "".join(" " * level + line(level) + "\n" for level in range(depth)) + " " * depth + inner + "\n"


def _chain(number: int) -> str:
    return f"x{number + 1} = x{number}\n"


def _small(text: str) -> str:
    """The same in fewer parts than are refused."""
    return text[: LONGEST // 4].rpartition("\n")[0] + "\n"


TEXTS = {
    "parentheses": nested("(", ")", 49_999),
    "open parentheses": "(" * LONGEST,
    "lists in lists": (nested("[", "]", 190) + "\n") * 260,
    "lists in lists, few": (nested("[", "]", 190) + "\n") * 70,
    "calls in calls": nested("f(", ")", 190),
    "lambdas in lambdas": "lambda:" * 14_000 + "1",
    "lambdas in lambdas, few": "lambda:" * 900 + "1",
    "not not": "not " * 24_000 + "1",
    "minus minus": "-" * 99_999 + "1",
    "minus minus, often": ("-" * 90 + "a\n") * 1_080,
    "long sum": filled("+a", "a"),
    "sum of hundreds": "a" + "+a" * 950,
    "sums of hundreds": ("a" + "+a" * 900 + "\n") * 12,
    "long comparison": filled("<a", "a"),
    "powers": filled("**a", "a"),
    "if else if else": filled(" if a else a", "a"),
    "attributes": filled(".a", "a"),
    "attributes of hundreds": ("a" + ".b" * 900 + "\n") * 12,
    "subscripts": filled("[a]", "a"),
    "calls of calls": filled("()", "a"),
    "dotted import": filled(".a", "import a"),
    "dotted import, spaced": filled(" . a", "import a"),
    "dotted import, long": "import " + "a" * 50_000 + ".b" * 20_000,
    "dotted imports": ("import a" + ".a" * 490 + "\n") * 100,
    "huge tuple": filled("a,"),
    "huge dict": filled("a:a,", "{", "}"),
    "huge call": numbered(lambda n: f"a{n}=1,", "f(", ")"),
    "million statements": filled("a;"),
    "many statements": "a;" * 14_000,
    "many lines": "a\n" * 14_000,
    "many ifs": filled("if a:b\n"),
    "ifs, fewer": "def f(a):\n" + " if a: b=1\n" * 4_000,
    "elif elif": "if a:b\n" + "elif a:b\n" * 11_000,
    "elif of hundreds": "if a:b\n" + "elif a:b\n" * 480,
    "a = a = a": filled("a=", "", "1"),
    "a = a = a, fewer": "a=" * 9_000 + "1\n",
    "decorators": filled("@a\n", "", "def f():pass"),
    "functions": filled("def f():0\n"),
    "functions in functions": blocks(lambda n: f"def f{n}(a{n}, b=f{n}):", 90, "a;" * 9_000),
    "classes in classes": blocks(lambda n: f"class A{n}:", 90, "a=1;" * 5_000),
    "ifs in ifs": blocks(lambda n: "if a:", 90, "b=answer();" * 4_000),
    "loops in loops": blocks(lambda n: f"for a{n} in answer():", 90, "assert a1 == answer();" * 2_000),
    "comprehensions": filled(" for a in a", "[a", "]"),
    "comprehensions in each other": nested("[a for a in ", "]", 190, "a"),
    "formatted string": filled("{a}", "f'", "'"),
    "formatted string, fewer": "f'" + "{a}" * 7_000 + "'",
    "formatted strings": "f'{a}'\n" * 7_000,
    "strings": filled("'a'"),
    "number": "9" * LONGEST,
    "hexadecimal number": "0x" + "f" * (LONGEST - 2),
    "hexadecimal numbers": ("x = 0x" + "f" * 3_400 + "\n") * 29,
    "expanding name": "\ufdfa" * LONGEST,
    "expanding names": filled("\ufdfa\n"),
    "other letters, then an error": filled("é,", "[", "$"),
    "form feeds": filled("\f\na\n"),
    "null byte": filled("a\n", "", "\0"),
    "lone surrogate": filled("a\n", "", "'\ud800'"),
    "continued lines": "\\\n" * 50_000,
    "continued statement": filled("\\\n", "a", "b"),
    "empty lines": "\n" * LONGEST,
    "comments": filled("# a\n\n"),
    "quotes": "'" * LONGEST,
    "open string": "print a\n'''" + "a\n" * 49_000,
    "open strings": "print a\n" + "'''a\n" * 19_990,
    "an error at the end": filled("a=b\n", "", "a b\n"),
    "errors in brackets": nested("{1:[f(b, ", ")]}", 60, "a b"),
    "colons": "print a\n" + ":" * 90_000,
    "dollars": "$" * LONGEST,
    "with many": "with " + ", ".join(f"answer() as w{n}" for n in range(4_000)) + ":\n assert w1 == 1\n",
    "chain": numbered(_chain, "x0 = answer()\n", "assert x5000 == 42\n"),
    "chain of hundreds, asserted": numbered(
        lambda n: f"x{n + 1} = x{n} + 1\nassert x{n}\n", "x0 = answer()\n"
    ),
    "chain, backwards": "".join(f"x{n} = x{n + 1}\n" for n in range(5_000)) + "x1 = answer()\nassert x1\n",
    "chain in a function": numbered(
        lambda n: f"    r{n + 1} = answer(r{n})\n    assert r{n + 1} == r{n}\n", "def t():\n"
    ),
    "chain of functions": numbered(
        lambda n: f"def g{n}():\n    return g{n + 1}()\n", "", "assert g0() == 1\n"
    ),
    "functions that call each other": "".join(
        f"def g{n}(a, b, c):\n    v = g{n * 7 % 1_200}(a, b, c)\n    return v\n" for n in range(1_200)
    )
    + "assert g0(answer(), 1, 2) == 1\n",
    "many names, many assertions": f"[{','.join(f'a{n}' for n in range(9_000))}] = [answer()]\n"
    + "assert a1\n" * 2_500,
    "texts for exec": filled("exec('x=1')\n"),
    "a long text for exec": "exec('" + "x=1;" * 20_000 + "')\n",
    "methods": numbered(lambda n: f" def f{n}(self): return self.f{n + 1}()\n", "class A:\n"),
    "Python 2": "print 'a'\n" * 70 + "x=1\n" * 12_000,
    "Python 2, one line": "print " + "a," * 40_000 + "\n",
    "Python 2, except": "try:0\nexcept " + "," * 90_000,
    "expectations": "a = [" + "1," * 9_000 + "]\n" + "assert answer(a) == 1\n" * 2_500,
    "leaky words": filled("should fail "),
    "leaky names": numbered(lambda n: f"wrong_answer_{n} = 1\n"),
    "nothing but tabs": "\t" * 50_000 + "a",
    "Java": "class A { " + "void f() {} " * 8_000 + "}",
    "open Java": "class A{" * 12_000,
}
TEXTS |= {f"{name}, a quarter": _small(text) for name, text in TEXTS.items() if text.count("\n") > 1_000}
