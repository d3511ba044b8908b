"""BibTeX of what was published: any name is text in it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from retrieval.texts.latex import format_bibtex


def test_an_entry_has_its_fields_aligned_and_no_empty_one() -> None:
    made = format_bibtex("plus 1", {"title": "CoSQA Plus, 50 %", "year": "2026", "note": ""})
    assert made == "@misc{plus-1,\n  title = {{CoSQA Plus, 50 \\%}},\n  year  = {2026},\n}\n"


@given(st.text(), st.text())
def test_no_name_ends_its_field(name: str, text: str) -> None:
    made = format_bibtex(name, {"title": text, "note": "n"})
    bare = re.sub(r"\\[{}]", "", made)
    depth = 0
    for place, sign in enumerate(bare):
        depth += (sign == "{") - (sign == "}")
        assert depth > 0 or place < bare.index("{") or place >= len(bare) - 2
    assert depth == 0
