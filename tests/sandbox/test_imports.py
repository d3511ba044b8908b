import json
from pathlib import Path

import pytest

from sandbox.imports import Need, functions_in, measure_import_coverage, modules_of, need_of_module


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("def f():\n    import os.path, yaml as y\n    from PIL.Image import open\n", {"os", "yaml", "PIL"}),
        ("def f(x):\n    return np.zeros(x) + tf.ones(x)\n", {"numpy", "tensorflow"}),
        ("def f():\n    return requests.get(json.loads('1'))\n", {"requests", "json"}),
        ("def f(np, requests):\n    pd = np\n    return np.x + requests.y + pd.z\n", set()),
        ("def f(self):\n    return self.np.x + config.y\n", set()),
        ("from . import x\nfrom .y import z\n", set()),
        ("def yaml():\n    return yaml()\n", set()),
    ],
)
def test_modules_of_a_function(text: str, modules: set[str]) -> None:
    assert modules_of(text) == frozenset(modules)


def test_without_bare_names_imports_count_alone() -> None:
    assert modules_of("def f():\n    import six\n    return np.x\n", bare=False) == frozenset({"six"})


@pytest.mark.parametrize("text", ["print 1", "def f(:", "x = '\0'"])
def test_what_does_not_parse_has_no_modules(text: str) -> None:
    assert modules_of(text) is None


@pytest.mark.parametrize(
    ("module", "found"),
    [
        ("os", Need.STANDARD),
        ("yaml", Need.IMAGE),
        ("mpl_toolkits", Need.IMAGE),
        ("tensorflow", Need.INSTALLED),
        ("urllib2", Need.MISSING),
    ],
)
def test_where_a_module_comes_from(module: str, found: Need) -> None:
    assert need_of_module(module) is found


def test_a_function_has_the_worst_need_of_its_modules() -> None:
    found = measure_import_coverage(
        ["import os", "import os, yaml", "import yaml, torch", "import torch, urllib2", "print 1", ""]
    )
    assert found.needs == {
        Need.STANDARD: 2,
        Need.IMAGE: 1,
        Need.INSTALLED: 1,
        Need.MISSING: 1,
        Need.UNREADABLE: 1,
    }
    assert found.lacking == {"torch": 2, "urllib2": 1}
    assert found.share(Need.STANDARD, Need.IMAGE) == 0.5


def test_nothing_has_no_share() -> None:
    assert measure_import_coverage([]).share(Need.STANDARD) == 0.0


def test_functions_of_each_kind_of_file(tmp_path: Path) -> None:
    (tmp_path / "map.txt").write_text(json.dumps({"import os": 0, "import six": 1}))
    (tmp_path / "list.json").write_text(json.dumps([{"code": "import os"}, "import six"]))
    (tmp_path / "one.py").write_text("import os\n")
    found = [list(functions_in(tmp_path / name)) for name in ("map.txt", "list.json", "one.py")]
    assert found == [["import os", "import six"], ["import os", "import six"], ["import os\n"]]


@pytest.mark.real_data
def test_most_functions_of_cosqa_need_no_installation(real_data: Path) -> None:
    found = measure_import_coverage(functions_in(real_data / "cosqa" / "code_idx_map.txt"))
    assert found.share(Need.STANDARD, Need.IMAGE) > 0.96
