"""Where a reranker's files lie, and its scores as they are kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from retrieval.encoders.base import Doubles, MissingWeights
from retrieval.encoders.dense.architectures import ANY_TOKENIZER
from retrieval.encoders.dense.spec_encoder import AFTER_PADDING
from retrieval.encoders.dense.weights import (
    commit_of,
    digest_folder,
    hub_folder,
    library_fault,
    require_model_files,
)

SCORE_DECIMALS: Final = 6
"""The last bits of a score depend on the batch and the machine; rounded, equal texts have equal scores."""


def count_input_tokens(config: Any, limit: int) -> int:
    """How many tokens a model of this configuration takes, at most `limit`."""
    positions = int(getattr(config, "max_position_embeddings", 0) or limit + 2)
    return min(limit, positions - 2 if config.model_type in AFTER_PADDING else positions)


@dataclass(frozen=True)
class RerankerFiles:
    """A reranker with the files of a folder, or of a hub model on this machine (`id@revision`)."""

    source: str
    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """What a person types to choose it."""
        return f"{self.kind}:{self.source}"

    @cached_property
    def folder(self) -> Path:
        """Where its files lie. Imports no torch. Raises `MissingWeights`."""
        if fault := library_fault():
            raise MissingWeights(f"{self.name}: {fault}")
        try:
            is_folder = self.source.startswith((".", "/", "~")) or Path(self.source).is_dir()
            if is_folder:
                return require_model_files(Path(self.source).expanduser(), "", ANY_TOKENIZER)
            hub_id, _, revision = self.source.partition("@")
            return require_model_files(hub_folder(hub_id, revision or "main"), hub_id, ANY_TOKENIZER)
        except (OSError, RuntimeError, ValueError) as why:  # too long, of nobody's home, or with a NUL
            raise MissingWeights(f"{self.name}: names no folder and no hub id ({str(why)[:200]})") from why

    @property
    def revision(self) -> str:
        """Which commit of the hub its files are; empty for those of a folder. Raises `MissingWeights`."""
        return commit_of(self.folder)

    @cached_property
    def weights(self) -> str:
        """What its files are known by, wherever they lie. Raises `MissingWeights`."""
        return digest_folder(self.folder)

    def round_scores(self, scores: Doubles) -> Doubles:
        """Scores as they are kept. Raises `MissingWeights` where one is not finite: it would have no rank."""
        if not np.isfinite(scores).all():
            raise MissingWeights(f"{self.name}: a score is not finite; its weights are damaged.")
        return np.round(scores, SCORE_DECIMALS) + 0.0  # no -0.0
