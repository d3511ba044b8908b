"""Systems that start from random weights: names, the files of a trained one, how texts become words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from retrieval.encoders.base import Kind, MissingWeights
from retrieval.encoders.lexical.terms import CAMEL_HUMP
from retrieval.texts.small_files import read_small_json

BASELINES: Final[Mapping[str, Mapping[Kind, str]]] = {
    "nbow": {"query": "nbow", "snippet": "nbow"},
    "cnn": {"query": "cnn", "snippet": "cnn"},
    "birnn": {"query": "birnn", "snippet": "birnn"},
    "selfattn": {"query": "selfattn", "snippet": "selfattn"},
    "selfattn-nbow": {"query": "selfattn", "snippet": "nbow"},
    "ncs": {"query": "mean", "snippet": "tf-idf"},
    "unif": {"query": "mean", "snippet": "attention"},
}
"""By name the network of each kind of text."""
NCS: Final = "ncs"
"""Learns words by the words around them, and no pairs."""
ONE_VOCABULARY: Final = (NCS, "unif")
"""Systems whose words have vectors, the same for queries and code, before pairs are learned."""
KINDS: Final[tuple[Kind, Kind]] = ("query", "snippet")
DIMENSION: Final = 128
LENGTHS: Final[Mapping[Kind, int]] = {"query": 30, "snippet": 200}
"""Tokens after which a text is cut."""
WORD_NUMBER_OR_SIGN: Final = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
CONFIG: Final = "config.json"
WEIGHTS: Final = "model.safetensors"
MODEL_TYPE: Final = "codesearchnet-baseline"


def vocabulary_file(kind: Kind) -> str:
    """The name of the file with the byte-pair vocabulary for a kind of text."""
    return f"{kind}-vocabulary.json"


def split_words(text: str) -> list[str]:
    """Words, numbers and signs in lower case; identifiers are split at humps and underscores.

    >>> split_words("readCSV(file_name, 2)")
    ['read', 'csv', '(', 'file', 'name', ',', '2', ')']
    """
    return WORD_NUMBER_OR_SIGN.findall(CAMEL_HUMP.sub(r"\1 \2", text).lower())


def read_baseline_config(folder: Path) -> dict[str, Any]:
    """What a trained baseline's folder says of it. Raises `MissingWeights`."""
    try:
        told = read_small_json(folder / CONFIG)
        if told["model_type"] != MODEL_TYPE or told["system"] not in BASELINES:
            raise KeyError("model_type")
        int(told["dimension"])
    except (KeyError, OSError, TypeError, ValueError) as why:
        raise MissingWeights(f"{folder / CONFIG} describes no baseline that 'cosqa train' wrote") from why
    return dict(told)
