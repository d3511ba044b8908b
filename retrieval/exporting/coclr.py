"""The files of CoCLR's CoSQA: pairs with `doc`, `code`, `label`, `retrieval_idx`, and `code_idx_map.txt`.

One file of pairs, or one for each part of a split. `retrieval_idx` is the code's index in the map.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from pathlib import Path

from retrieval.exporting.content import Subject, TextStore
from retrieval.exporting.files import JsonArray, Output
from retrieval.exporting.parts import Parts, named_parts
from retrieval.exporting.stores import Tick, fill_text_store, stored_pairs

CODES = "code_idx_map.txt"
PAIR = (
    b'{"idx": "cosqa-%b-%d", "doc": %b, "code": %b, "code_tokens": "", "docstring_tokens": "", "label": %d, '
    b'"retrieval_idx": %d}'
)


def write_coclr_files(subject: Subject, folder: Path, parts: Parts | None, tick: Tick) -> list[str]:
    names = named_parts(parts, "all")
    with TextStore() as queries, TextStore() as snippets, ExitStack() as files:
        deque(fill_text_store(subject.queries(), queries, tick), maxlen=0)
        with Output(folder, CODES) as codes:
            for entry in fill_text_store(subject.snippets(), snippets, tick):
                if not subject.held_snippets.mask[entry.position]:
                    codes.add((b",\n" if codes.count else b"{") + b"%b: %d" % (entry.json, entry.number))
            codes.add(b"}\n" if codes.count else b"{}\n")
        outputs = [files.enter_context(JsonArray(folder, f"cosqa-{name}.json")) for name in names]
        for row in stored_pairs(subject, queries, snippets, tick):
            part = parts.part_of[row.query] if parts else 0
            output = outputs[part]
            told = (names[part].encode(), output.count, row.asked, row.code, row.relevance > 0, row.number)
            output.add(PAIR % told)
    return [*(f"cosqa-{name}.json" for name in names), CODES]
