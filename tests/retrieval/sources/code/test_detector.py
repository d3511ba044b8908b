"""The detector of languages, for real: its model tells Python that does not parse from other languages."""

from __future__ import annotations

import sys

import pytest

from retrieval.sources.code import detector

PYTHON_2 = (
    "import os\n\n\ndef show(paths):\n    for path in paths:\n        if os.path.isdir(path):\n"
    "            print 'folder', path\n        else:\n            print 'file', path, os.path.getsize(path)\n"
    "    return len(paths)\n\n\nif __name__ == '__main__':\n    show(os.listdir('.'))\n"
)
JAVASCRIPT = (
    "const fs = require('fs');\n\nfunction show(paths) {\n  paths.forEach((path) => {\n"
    "    console.log(fs.statSync(path).isDirectory() ? 'folder' : 'file', path);\n  });\n"
    "  return paths.length;\n}\n\nmodule.exports = { show };\n"
)


@pytest.mark.parametrize(("text", "language"), [(PYTHON_2, "python"), (JAVASCRIPT, "javascript")])
def test_it_names_the_language_of_a_text(text: str, language: str) -> None:
    detect = detector.load_magika()
    assert detect is not None
    assert detect(text) == language


def test_without_its_extra_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "magika", None)
    monkeypatch.setattr(detector, "find_spec", lambda name: None)
    assert detector.load_magika() is None
