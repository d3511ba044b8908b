"""A folder that can be pushed to the Hugging Face hub: JSON Lines and a dataset card.

Three configurations: `pairs` (the labelled pairs, in parts where there is a split), `queries`, `codebase`.
The card names no part without pairs: `datasets` reads no empty file.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from retrieval.exporting.card import Licences, format_config, format_dataset_card
from retrieval.exporting.content import Subject, TextStore
from retrieval.exporting.files import Output
from retrieval.exporting.parts import Parts, named_parts
from retrieval.exporting.stores import Tick, fill_text_store, stored_pairs
from retrieval.licences import spdx_expression

CARD = "README.md"
HUB_NAMES = {"dev": "validation"}
MEMBER = b'{"%b_idx": %d, "%b": %b, "source_id": %b, "origin": %b, "licence": %b}\n'
PAIR = b'{"pair_idx": %d, "query_idx": %d, "query": %b, "code_idx": %d, "code": %b, "label": %d, %b}\n'


def write_huggingface_folder(subject: Subject, folder: Path, parts: Parts | None, tick: Tick) -> list[str]:
    splits = [HUB_NAMES.get(name, name) for name in named_parts(parts, "test")]
    names = [f"data/pairs-{split}.jsonl" for split in splits]
    licences: Licences = Counter()
    filled = set[str]()
    with TextStore() as queries, TextStore() as snippets:
        _write_members(subject, folder, "query", queries, tick, Counter())
        _write_members(subject, folder, "code", snippets, tick, licences)
        givers = [_giver(subject, place) for place in range(len(subject.pairs.known))]
        with ExitStack() as files:
            outputs = [files.enter_context(Output(folder, name)) for name in names]
            for number, row in enumerate(stored_pairs(subject, queries, snippets, tick)):
                told = (number, row.query_number, row.asked, row.number, row.code, row.relevance > 0)
                relevance = b'"relevance": %b, ' % repr(row.relevance).encode()
                place = parts.part_of[row.query] if parts else 0
                outputs[place].add(PAIR % (*told, relevance + givers[row.giver]))
                filled.add(splits[place])
    pairs = {split: f"data/pairs-{split}.jsonl" for split in splits if split in filled}
    configs = [
        *format_config("pairs", pairs, default=True),
        *format_config("queries", {"queries": "data/queries.jsonl"}),
        *format_config("codebase", {"codebase": "data/codebase.jsonl"}),
    ]
    (folder / CARD).write_text(format_dataset_card(subject, parts, configs, licences), "utf-8")
    return [CARD, *names, "data/queries.jsonl", "data/codebase.jsonl"]


def _giver(subject: Subject, place: int) -> bytes:
    giver = subject.pairs.known[place]
    told = {"source": giver.source.value, "assisted": giver.assisted, "annotator": giver.name}
    return json.dumps(told | {"basis": giver.basis})[1:-1].encode()


def _write_members(
    subject: Subject, folder: Path, key: str, store: TextStore, tick: Tick, licences: Licences
) -> None:
    name, entries, held = (
        ("codebase", subject.snippets(), subject.held_snippets)
        if key == "code"
        else ("queries", subject.queries(), subject.held_queries)
    )
    with Output(folder, f"data/{name}.jsonl") as output:
        for row in fill_text_store(entries, store, tick):
            if held.mask[row.position]:
                continue
            entry = row.entry
            licences[spdx_expression(entry.licence)] += 1
            told = [json.dumps(text).encode() for text in (entry.source_id, entry.origin, entry.licence)]
            output.add(MEMBER % (key.encode(), row.number, key.encode(), row.json, *told))
