"""What is known of the encoders that have a name (`registry.toml`): pooling, lengths, licence …

From their cards, papers and MTEB's metadata (2026). When a model is loaded,
`retrieval.encoders.dense.model_card`
holds this against the model's own configuration files. Lengths are where texts are cut here; a model may take
longer ones. "not known" is never "nothing".
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from retrieval.encoders.base import Kind

Pooling: TypeAlias = Literal["mean", "cls", "lasttoken", "pooler", "projected cls"]

NOT_KNOWN: Final = "not known"
NO_PREFIX: Final[Mapping[Kind, str]] = {"query": "", "snippet": ""}


@dataclass(frozen=True, slots=True)
class Known:
    """One transformer encoder. `parameters` in millions; `lengths` in tokens, special ones and prefix too.

    `chosen`: the query's prefix carries an instruction that whoever searches is to choose, so that the
    model's own files may have another one. `sees_tasks`: its training data have this field's queries or code.
    `family`: whose models it belongs to, empty where that says nothing about an annotator's model; `base`:
    of which family it was made, empty where nobody has said.
    `revision`: branch, tag or commit of the hub; which commit a branch was is noted with what it made.
    `folder_only`: the hub has no such weights, `hub_id` is what they were tuned from. `caution`: what people
    must know before they use the hub's weights.
    """

    hub_id: str
    dimension: int
    parameters: int
    pooling: Pooling
    licence: str
    trained_on: str = NOT_KNOWN
    sees_tasks: bool = False
    prefixes: Mapping[Kind, str] = field(default_factory=lambda: NO_PREFIX)
    chosen: bool = False
    lengths: Mapping[Kind, int] = field(default_factory=lambda: {"query": 128, "snippet": 512})
    family: str = ""
    base: str = ""
    revision: str = "main"
    folder_only: bool = False
    caution: str = ""


def _read_known(group: str) -> Mapping[str, Known]:
    text = Path(__file__).with_suffix(".toml").read_text("utf-8")
    return {name: Known(**known) for name, known in tomllib.loads(text)[group].items()}


OF_THE_PAPER: Final = _read_known("paper")
"""Those that have an architecture of their own here, MiniLM with them."""
CURRENT: Final = _read_known("current")
"""Those that run as their own files of sentence-transformers say, without code that comes with them."""
NATIVE: Final = _read_known("native")
"""Those whose own files name code, in the place of which transformers has a class."""
KNOWN: Final[Mapping[str, Known]] = {**OF_THE_PAPER, **CURRENT, **NATIVE}
