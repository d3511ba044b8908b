"""What is known of the encoders that have a name: prefixes, pooling, lengths, licence, training data.

From their cards, papers and MTEB's metadata (2026). When a model is loaded, `retrieval.encoders.declared`
holds this against the model's own configuration files. Lengths are where texts are cut here; a model may take
longer ones. "not known" is never "nothing".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from retrieval.encoders.base import Kind

Pooling: TypeAlias = Literal["mean", "cls", "lasttoken", "pooler", "projected cls"]

NOT_KNOWN: Final = "not known"
NO_PREFIX: Final[Mapping[Kind, str]] = {"query": "", "snippet": ""}
INSTRUCTION: Final = "Given a web search query, retrieve relevant code that can help answer the query"
PAIRS: Final = "a billion pairs, CodeSearchNet and Stack Exchange among them"


@dataclass(frozen=True, slots=True)
class Known:
    """One transformer encoder. `parameters` in millions; `lengths` in tokens, special ones and prefix too.

    `chosen`: the query's prefix carries an instruction that whoever searches is to choose, so that the
    model's own files may have another one. `sees_tasks`: its training data have this field's queries or code.
    `family`: whose models it belongs to, empty where that says nothing about an annotator's model; `base`:
    of which family it was made, empty where nobody has said.
    `revision`: branch, tag or commit of the hub; which commit a branch was is noted with what it made.
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


def instructed(instruction: str = INSTRUCTION) -> Mapping[Kind, str]:
    """Qwen3's form, which F2LLM shares."""
    return {"query": f"Instruct: {instruction}\nQuery: ", "snippet": ""}


def f2llm(size: str, dimension: int, parameters: int) -> Known:
    return Known(
        hub_id=f"codefuse-ai/F2LLM-v2-{size}",
        dimension=dimension,
        parameters=parameters,
        pooling="lasttoken",
        licence="Apache-2.0",
        trained_on="60 million public samples in 282 natural and 40 programming languages",
        prefixes=instructed(),
        chosen=True,
        base="Qwen",
    )


OF_THE_PAPER: Final[Mapping[str, Known]] = {
    "minilm": Known(
        "sentence-transformers/all-MiniLM-L6-v2",
        384,
        23,
        "mean",
        "Apache-2.0",
        PAIRS,
        sees_tasks=True,
        lengths={"query": 256, "snippet": 256},
        base="MiniLM",
    ),
    "codebert": Known(
        "microsoft/codebert-base",
        768,
        125,
        "pooler",
        "MIT",
        "CodeSearchNet, six languages",
        sees_tasks=True,
        family="Microsoft",
        lengths={"query": 128, "snippet": 256},
        base="RoBERTa",
    ),
    "unixcoder": Known(
        "microsoft/unixcoder-base",
        768,
        126,
        "mean",
        "Apache-2.0",
        "CodeSearchNet and text of C4",
        sees_tasks=True,
        family="Microsoft",
        lengths={"query": 128, "snippet": 256},
        base="RoBERTa",
    ),
    "codet5p": Known(
        "Salesforce/codet5p-110m-embedding",
        256,
        110,
        "projected cls",
        "BSD-3-Clause",
        "GitHub code, then CodeSearchNet",
        sees_tasks=True,
        family="Salesforce",
        lengths={"query": 64, "snippet": 360},
    ),
}
"""Those that have an architecture of their own here, MiniLM with them."""

CURRENT: Final[Mapping[str, Known]] = {
    "e5": Known(
        "intfloat/e5-base-v2",
        768,
        109,
        "mean",
        "MIT",
        "pairs of the web, Stack Exchange among them",
        prefixes={"query": "query: ", "snippet": "passage: "},
        base="BERT",
    ),
    "multilingual-e5-large": Known(
        "intfloat/multilingual-e5-large",
        1024,
        560,
        "mean",
        "MIT",
        "pairs of the web in many languages, Stack Exchange among them",
        prefixes={"query": "query: ", "snippet": "passage: "},
        base="XLM-RoBERTa",
    ),
    "minilm-l12": Known(
        "sentence-transformers/all-MiniLM-L12-v2",
        384,
        33,
        "mean",
        "Apache-2.0",
        PAIRS,
        sees_tasks=True,
        lengths={"query": 128, "snippet": 128},
        base="MiniLM",
    ),
    "mpnet": Known(
        "sentence-transformers/all-mpnet-base-v2",
        768,
        109,
        "mean",
        "Apache-2.0",
        PAIRS,
        sees_tasks=True,
        lengths={"query": 128, "snippet": 384},
        base="MPNet",
    ),
    "gte-modernbert": Known(
        "Alibaba-NLP/gte-modernbert-base", 768, 149, "cls", "Apache-2.0", base="ModernBERT"
    ),
    "granite-small-r2": Known("ibm-granite/granite-embedding-small-english-r2", 384, 48, "cls", "Apache-2.0"),
    "granite-r2": Known("ibm-granite/granite-embedding-english-r2", 768, 149, "cls", "Apache-2.0"),
    "qwen3-embedding": Known(
        "Qwen/Qwen3-Embedding-0.6B",
        1024,
        596,
        "lasttoken",
        "Apache-2.0",
        prefixes=instructed(),
        chosen=True,
        family="Qwen",
        base="Qwen",
    ),
    "embeddinggemma": Known(
        "google/embeddinggemma-300m",
        768,
        308,
        "mean",
        "Gemma (its terms have to be accepted on the hub)",
        prefixes={"query": "task: code retrieval | query: ", "snippet": "title: none | text: "},
        family="Google",
        base="Google",
    ),
    "f2llm-80m": f2llm("80M", 320, 80),
    "f2llm-160m": f2llm("160M", 640, 159),
    "f2llm-330m": f2llm("330M", 896, 334),
    "f2llm-0.6b": f2llm("0.6B", 1024, 596),
    "bge-code": Known(
        "BAAI/bge-code-v1",
        1536,
        1543,
        "lasttoken",
        "Apache-2.0",
        "training parts of CoSQA and CodeSearchNet",
        sees_tasks=True,
        prefixes={"query": f"<instruct>{INSTRUCTION}.\n<query>", "snippet": ""},
        chosen=True,
        base="Qwen",
    ),
    "jina-code": Known(
        "jinaai/jina-code-embeddings-0.5b",
        896,
        494,
        "lasttoken",
        "CC-BY-NC-4.0 (not for commercial use)",
        "CoSQA+ and others",
        sees_tasks=True,
        family="Jina",
        prefixes={
            "query": "Find the most relevant code snippet given the following query:\n",
            "snippet": "Candidate code snippet:\n",
        },
        base="Qwen",
    ),
}
"""Those that run as their own files of sentence-transformers say, without code that comes with them."""

KNOWN: Final[Mapping[str, Known]] = {**OF_THE_PAPER, **CURRENT}
