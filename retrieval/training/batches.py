"""Examples as tensors: padded token ids, and which columns of a batch are no non-match of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data import Dataset

from retrieval.encoders.dense.transformer import pad_ids
from retrieval.training.data import Example, Progress, say_nothing
from retrieval.training.dual_encoders import DualEncoder

Ids: TypeAlias = npt.NDArray[np.int32]
TEXTS_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class TokenizedExample:
    """As `Example`, with token ids instead of texts."""

    query: Ids
    texts: Sequence[Ids]
    snippets: Sequence[int]
    matches: frozenset[int]


class TokenizedExamples(Dataset[TokenizedExample]):
    """Tokenized once: some four bytes a token."""

    def __init__(
        self, examples: Sequence[Example], model: DualEncoder, progress: Progress = say_nothing
    ) -> None:
        self.examples = list[TokenizedExample]()
        for start in range(0, len(examples), TEXTS_AT_ONCE):
            progress("splitting texts into tokens", start, len(examples))
            part = examples[start : start + TEXTS_AT_ONCE]
            queries = model.tokenize([example.query for example in part], "query")
            texts = iter(model.tokenize([text for example in part for text in example.texts], "snippet"))
            for example, query in zip(part, queries, strict=True):
                own = [np.array(next(texts), dtype=np.int32) for _ in example.texts]
                asked = np.array(query, dtype=np.int32)
                self.examples.append(TokenizedExample(asked, own, example.snippets, example.matches))

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, place: int) -> TokenizedExample:
        return self.examples[place]


@dataclass(frozen=True, slots=True)
class Collator:
    """Makes a batch; `masks_matches`: whether known matches of a query are left out of its non-matches."""

    padding: int
    masks_matches: bool

    def __call__(self, examples: Sequence[TokenizedExample]) -> dict[str, Tensor]:
        further = [place for example in examples for place in range(1, len(example.texts))]
        owners = [row for row, example in enumerate(examples) for _ in example.texts[1:]]
        texts = [example.texts[0] for example in examples]
        texts += [examples[row].texts[place] for row, place in zip(owners, further, strict=True)]
        columns = [example.snippets[0] for example in examples]
        columns += [examples[row].snippets[place] for row, place in zip(owners, further, strict=True)]
        query_ids, query_mask = self._padded([example.query for example in examples])
        snippet_ids, snippet_mask = self._padded(texts)
        batch = {
            "query_ids": query_ids,
            "query_mask": query_mask,
            "snippet_ids": snippet_ids,
            "snippet_mask": snippet_mask,
        }
        return {**batch, "ignored": find_other_matches(examples, columns)} if self.masks_matches else batch

    def _padded(self, texts: Sequence[Ids]) -> tuple[Tensor, Tensor]:
        return pad_ids([text.tolist() for text in texts], self.padding, max(map(len, texts)))


def find_other_matches(examples: Sequence[TokenizedExample], columns: Sequence[int]) -> Tensor:
    """Where a column is a match of the query but not its own one; the own snippet's copies count, too."""
    rows = [
        [place != row and column in example.matches for place, column in enumerate(columns)]
        for row, example in enumerate(examples)
    ]
    return torch.tensor(rows, dtype=torch.bool)
