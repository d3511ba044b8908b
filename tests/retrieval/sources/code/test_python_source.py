"""Functions out of files, folders, wheels, zips and the standard library."""

import ast
import zipfile
from pathlib import Path

import pytest

from retrieval.filters import rules_of
from retrieval.sources import Problem, Record
from retrieval.sources.code import files
from retrieval.sources.code.python_source import read_python_functions

MODULE = '''
# SPDX-License-Identifier: MIT
import functools

@functools.cache
def top(a):
    """Doc."""
    return a

class Outer:
    x = 1

    async def method(self, a):
        """First.

        Second.
        """
        text = """
        stays
    here"""
        return text

    class Inner:
        def deep(self):
            def nested():
                return 1
            return nested

    @property
    def twice(self): return 1
    @twice.setter
    def twice(self, value): pass

if True:
    def branch(): return 1
else:
    try:
        def branch(): return 2
    except ImportError:
        def handler(): return 3
'''


def ids(found: list[Record | Problem]) -> list[str]:
    return [record.source_id for record in found if isinstance(record, Record)]


def problems(found: list[Record | Problem]) -> list[str]:
    return [str(problem) for problem in found if isinstance(problem, Problem)]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in ("pkg/b.py", "pkg/a.py", ".hidden/c.py", "__pycache__/d.py", "pkg/notes.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"def {Path(name).stem}(x):\n    return x\n")
    return root


def test_functions_and_methods_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MODULE)
    found = list(read_python_functions(tmp_path / "m.py"))
    assert ids(found) == [
        "m.py::top",
        "m.py::Outer.method",
        "m.py::Outer.Inner.deep",
        "m.py::Outer.twice",
        "m.py::Outer.twice#2",
        "m.py::branch",
        "m.py::branch#2",
        "m.py::handler",
    ]
    assert {record.licence for record in found if isinstance(record, Record)} == {"MIT"}
    assert {record.origin for record in found if isinstance(record, Record)} == {"m.py"}


@pytest.mark.parametrize(
    "around",
    [
        "for x in y:\n {}\nelse:\n {}",
        "while x:\n {}\nelse:\n {}",
        "match x:\n case 1:\n  {}\n case _:\n  {}",
        "with x:\n {}\n if y:\n  {}",
        "try:\n {}\nexcept* x:\n {}",
        "class A:\n for x in y:\n  {}\n  {}",
    ],
)
def test_functions_under_any_statement_are_found(tmp_path: Path, around: str) -> None:
    (tmp_path / "m.py").write_text(around.replace("{}", "def f(): return 1"))
    prefix = "A." if "class" in around else ""
    assert ids(list(read_python_functions(tmp_path / "m.py"))) == [f"m.py::{prefix}f", f"m.py::{prefix}f#2"]


def test_a_method_moves_left_but_its_strings_do_not(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MODULE)
    text = {r.source_id: r.text for r in read_python_functions(tmp_path / "m.py") if isinstance(r, Record)}
    assert text["m.py::top"] == 'def top(a):\n    """Doc."""\n    return a'
    assert text["m.py::Outer.method"] == (
        'async def method(self, a):\n    """First.\n\n    Second.\n    """\n'
        '    text = """\n        stays\n    here"""\n    return text'
    )


def test_line_ends_and_tabs_survive(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_bytes(b"class A:\r\n\tdef f(self, a):\r\n\t\t# note\r\n\t\treturn a\r\n")
    (record,) = read_python_functions(tmp_path / "m.py")
    assert isinstance(record, Record)
    assert record.text == "def f(self, a):\r\n\t# note\r\n\treturn a"


def test_a_folder_is_read_in_order_without_caches(tree: Path) -> None:
    found = list(read_python_functions(tree))
    assert ids(found) == ["pkg/a.py::a", "pkg/b.py::b"]
    assert isinstance(found[0], Record)
    assert found[0].origin == "project"


def test_a_wheel_states_its_licence(tmp_path: Path) -> None:
    wheel = tmp_path / "thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("thing/z.py", "def z(a): return a")
        archive.writestr("thing/a.py", "def a(a): return a")
        archive.writestr(
            "thing-1.0.dist-info/METADATA", "Name: thing\nLicense-Expression: Apache-2.0\n\nText"
        )
    found = list(read_python_functions(wheel))
    assert found == [
        Record("def a(a): return a", "thing/a.py::a", wheel.name, "Apache-2.0"),
        Record("def z(a): return a", "thing/z.py::z", wheel.name, "Apache-2.0"),
    ]


def test_what_cannot_be_read_is_told_and_the_rest_kept(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FILE_LIMIT", 200)
    (tree / "pkg" / "aa.py").write_text("x = 1\nprint 'two'\n")
    (tree / "pkg" / "ab.py").write_bytes(b"x = 1\ny = 2\nz = '\xff'\n")
    (tree / "pkg" / "ac.py").write_bytes(b"# coding: klingon\n")
    (tree / "pkg" / "ad.py").write_text("x = 1\n" * 100)
    (tree / "pkg" / "ae.py").symlink_to("nowhere.py")
    found = list(read_python_functions(tree))
    assert ids(found) == ["pkg/a.py::a", "pkg/b.py::b"]
    two, bad, klingon, long, gone = problems(found)
    assert two.startswith("project: pkg/aa.py, record 2: is not readable Python: Missing parentheses")
    assert bad.startswith("project: pkg/ab.py, record 3: is not readable Python: bad encoding")
    assert klingon.startswith("project: pkg/ac.py, record 1: is not readable Python: bad encoding: unknown")
    assert long == "project: pkg/ad.py: is longer than 200 bytes and is skipped"
    assert gone.endswith("ae.py: cannot be read: No such file or directory")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_a_mark_of_byte_order_tells_the_encoding(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.py").write_bytes("def f(a): return 'é'".encode(encoding))
    (record,) = read_python_functions(tmp_path)
    assert isinstance(record, Record)
    assert record.text == "def f(a): return 'é'"


@pytest.mark.parametrize("codec", ["rot13", "undefined", "hex"])
def test_a_declared_codec_that_is_none_of_source_is_told(tmp_path: Path, codec: str) -> None:
    (tmp_path / "a.py").write_text(f"# coding: {codec}\ndef f(a): return a")
    (tmp_path / "b.py").write_text("def g(a): return a")
    found = list(read_python_functions(tmp_path))
    assert ids(found) == ["b.py::g"]
    assert "a.py, record 1: is not readable Python: bad encoding" in problems(found)[0]


def test_latin_1_by_declaration(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_bytes("# coding: latin-1\ndef f(a): return 'é'".encode("latin-1"))
    (record,) = read_python_functions(tmp_path / "m.py")
    assert isinstance(record, Record)
    assert record.text == "def f(a): return 'é'"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.zip", b"PK nonsense", "is not a readable zip or wheel"),
        ("a.tar.gz", b"", "is not a readable tar or sdist"),
        (
            "a.txt",
            b"",
            "is not a folder, a .py or .ipynb file, a .whl, .zip or .tar.gz, git+PATH_OR_URL[@REVISION], or",
        ),
        ("none", None, "does not exist; expected a folder"),
    ],
)
def test_other_places_are_refused(name: str, content: bytes | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    (problem,) = read_python_functions(tmp_path / name)
    assert message in str(problem)


def test_a_zip_bomb_is_read_to_the_limit_only(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big.py", b"#" * (files.FILE_LIMIT + 1))
        archive.writestr("small.py", "def f(a): return a")
    assert problems(list(read_python_functions(bomb))) == [
        f"bomb.zip: big.py: is longer than {files.FILE_LIMIT:,} bytes and is skipped"
    ]
    assert ids(list(read_python_functions(bomb))) == ["small.py::f"]


def test_a_damaged_member_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.py", "def f(a): return a")
        archive.writestr("b.py", "def g(a): return a")
    path.write_bytes(path.read_bytes().replace(b"def f(a)", b"def F(a)", 1))
    found = list(read_python_functions(path))
    assert ids(found) == ["b.py::g"]
    assert "a.zip: a.py: cannot be unpacked: Bad CRC-32" in problems(found)[0]


def test_the_standard_library() -> None:
    found = [record for _, record in zip(range(300), read_python_functions("stdlib"), strict=False)]
    assert not problems(found)
    for record in found:
        assert isinstance(record, Record)
        assert (record.licence, record.origin[:7]) == ("PSF-2.0", "Python ")
        assert not record.text.startswith((" ", "\t"))
        rules_of(record.text)


def test_dedenting_keeps_the_function_the_same(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MODULE)
    originals = {
        node.name: node for node in ast.walk(ast.parse(MODULE)) if isinstance(node, ast.AsyncFunctionDef)
    }
    text = next(
        r.text
        for r in read_python_functions(tmp_path / "m.py")
        if isinstance(r, Record) and "method" in r.source_id
    )
    moved = ast.parse(text).body[0]
    assert isinstance(moved, ast.AsyncFunctionDef)
    assert ast.dump(ast.Module(moved.body[1:], [])) == ast.dump(ast.Module(originals["method"].body[1:], []))


NEW = """def first[T](xs: list[T]) -> T:
    return xs[0]

type Pair[A, B] = tuple[A, B]

class Box[T]:
    if True:
        @cached
        def get(self, default: T) -> T:
            text = f"hi {", ".join(self)}"
            return '''a
    b'''
"""
OLD = """import urllib2
def fetch(url):
    print >> out, "fetching", url
    def inner(): pass
    try:
        return urllib2.urlopen(url).read()
    except OSError, e:
        raise ValueError, "bad"

def fetch(url): return 0755 <> 1
"""


def test_functions_of_newer_and_older_pythons_are_read(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text(NEW)
    (tmp_path / "old.py").write_text(OLD)
    found = list(read_python_functions(tmp_path))
    assert ids(found) == ["new.py::first", "new.py::Box.get", "old.py::fetch", "old.py::fetch#2"]
    texts = [record.text for record in found if isinstance(record, Record)]
    assert texts[1] == (
        "def get(self, default: T) -> T:\n    text = f\"hi {\", \".join(self)}\"\n    return '''a\n    b'''"
    )
    assert texts[2] == OLD[OLD.index("def") : OLD.rindex("\n\ndef")]
    assert not problems(found)


def test_of_a_file_for_another_python_a_function_with_a_fault_is_told_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "def a(x):\n    print x\n\ndef b(x):\n    return x ?? 1\n\ndef c(): pass\n"
    )
    found = list(read_python_functions(tmp_path))
    assert ids(found) == ["a.py::a", "a.py::c"]
    assert [problem.partition(": ")[2] for problem in problems(found)] == [
        "a.py, record 4: b is not readable as Python of any version: it is left out"
    ]


def test_nothing_is_taken_of_a_file_with_a_fault_outside_of_functions(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def a(x):\n    return x\n\n<<<<<<< ours\ndef b(x):\n    return x\n")
    (problem,) = read_python_functions(tmp_path)
    assert "a.py, record 4: is not readable Python: invalid syntax" in str(problem)
