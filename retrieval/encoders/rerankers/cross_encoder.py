"""A cross-encoder reads query and snippet as one text: slow, and mostly better than two vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np

from retrieval.encoders.base import Doubles, MissingWeights
from retrieval.encoders.dense.architectures import quiet_transformers
from retrieval.encoders.rerankers.model_files import RerankerFiles, count_input_tokens
from retrieval.texts.small_files import read_small_json

LONGEST_TOKENS: Final = 512
"""Of query and snippet together; a model that takes fewer cuts earlier."""
PAIRS_AT_ONCE: Final = 32
RANKS_PAIRS: Final = "ForSequenceClassification"


@dataclass(frozen=True)
class CrossEncoder(RerankerFiles):
    """A model that sentence-transformers' CrossEncoder loads without code of its own, one score a pair."""

    kind: ClassVar[str] = "cross-encoder"

    @cached_property
    def identity(self) -> str:
        """Weights and options. Raises `MissingWeights`."""
        return f"{self.kind};weights={self.weights};tokens={LONGEST_TOKENS}"

    @cached_property
    def _loaded(self) -> Any:
        """Raises `MissingWeights`, also for a model that was trained for something else."""
        from sentence_transformers import CrossEncoder as Model

        config = read_small_json(self.folder / "config.json")
        made_for = [str(name) for name in config.get("architectures") or ()]
        declared = (self.folder / "modules.json").is_file()
        if not declared and not any(name.endswith(RANKS_PAIRS) for name in made_for):
            # The library would put a new, random layer on any other model, and say nothing.
            raise MissingWeights(
                f"{self.name}: config.json names {', '.join(made_for) or 'no architecture'}, and a "
                f"cross-encoder is one that ends with {RANKS_PAIRS}; train one with sentence-transformers"
            )
        try:
            with quiet_transformers():
                model = Model(str(self.folder), local_files_only=True, trust_remote_code=False)
        except (AttributeError, ImportError, KeyError, OSError, RuntimeError, TypeError, ValueError) as why:
            raise MissingWeights(
                f"{self.name}: sentence-transformers can't load it without code that comes with it: "
                f"{' '.join(str(why).split())[:300]}"
            ) from why
        if model.num_labels != 1:
            raise MissingWeights(
                f"{self.name}: has {model.num_labels} scores a pair; a reranker has one (num_labels)"
            )
        own = min(LONGEST_TOKENS, model.max_seq_length or LONGEST_TOKENS)
        model.max_seq_length = count_input_tokens(model.config, own)
        return model.eval()

    def score_snippets(self, query: str, snippets: Sequence[str]) -> Doubles:
        """One score a snippet, before any sigmoid. Raises `MissingWeights`."""
        if not snippets:
            return np.zeros(0)
        import torch

        pairs = [(query, snippet) for snippet in snippets]
        with torch.inference_mode():
            found = self._loaded.predict(
                pairs,
                batch_size=PAIRS_AT_ONCE,
                show_progress_bar=False,
                activation_fn=torch.nn.Identity(),
            )
        return self.round_scores(np.asarray(found, dtype=np.float64).reshape(len(snippets)))
