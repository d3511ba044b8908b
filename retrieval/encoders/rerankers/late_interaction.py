"""Late interaction: each token of the query meets the token of the snippet that is most like it.

The score is the sum of these largest cosines over the tokens of the query (Khattab and Zaharia 2020, ColBERT,
arXiv 2004.12832, eq. 3). States are those of the model's last layer: no projection is trained here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np

from retrieval.encoders.base import Doubles, Floats
from retrieval.encoders.dense.architectures import Model, Tokenizer, load_plain, quiet_transformers
from retrieval.encoders.dense.transformer import utf8
from retrieval.encoders.rerankers.model_files import RerankerFiles, count_input_tokens

TOKENS: Final = {"query": 64, "snippet": 256}
STATES_KEPT: Final = 512
"""Snippets whose states are kept: one is often among the first of many queries."""


@dataclass(frozen=True)
class LateInteraction(RerankerFiles):
    """Any transformer that gives a state for each token."""

    kind: ClassVar[str] = "late-interaction"

    @cached_property
    def identity(self) -> str:
        """Weights and options. Raises `MissingWeights`."""
        return f"{self.kind};weights={self.weights};tokens={TOKENS['query']},{TOKENS['snippet']}"

    @cached_property
    def _loaded(self) -> tuple[Tokenizer, Model]:
        import torch

        with quiet_transformers():
            tokenizer, model = load_plain(self.folder, pooler=False)
        return tokenizer, model.eval().to("cuda" if torch.cuda.is_available() else "cpu")

    @cached_property
    def _kept(self) -> dict[str, Floats]:
        return {}

    def score_snippets(self, query: str, snippets: Sequence[str]) -> Doubles:
        """Sums of cosines, one a snippet. Raises `MissingWeights`."""
        asked = self._states(query, TOKENS["query"])
        found = [(asked @ self._snippet_states(snippet).T).max(axis=1).sum() for snippet in snippets]
        return self.round_scores(np.array(found, dtype=np.float64))

    def _snippet_states(self, snippet: str) -> Floats:
        if snippet not in self._kept:
            if len(self._kept) >= STATES_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[snippet] = self._states(snippet, TOKENS["snippet"])
        return self._kept[snippet]

    def _states(self, text: str, limit: int) -> Floats:
        """The states of a text's tokens, each of length 1, shape (tokens, dimension)."""
        import torch

        tokenizer, model = self._loaded
        longest = count_input_tokens(model.config, limit)
        cut: Any = tokenizer(utf8(text), truncation=True, max_length=longest, return_tensors="pt")
        with torch.inference_mode():
            states = model(input_ids=cut["input_ids"].to(model.device)).last_hidden_state[0]
        unit = torch.nn.functional.normalize(states.float(), dim=1)
        return np.asarray(unit.cpu().numpy(), dtype=np.float32)
