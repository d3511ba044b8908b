"""CodeSearchNet's trainable baselines as encoders: one network for queries, another one for code.

They have no weights but those that `cosqa train` writes, so a name is always followed by a folder.
Settings are those of CodeSearchNet's repository (arXiv 1909.09436, section 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from retrieval.encoders.base import Floats, Kind, MissingWeights, Progress
from retrieval.encoders.baselines.baseline_files import (
    CONFIG,
    KINDS,
    LENGTHS,
    WEIGHTS,
    read_baseline_config,
    vocabulary_file,
)
from retrieval.encoders.dense.weights import digest_weights, library_fault

if TYPE_CHECKING:
    from retrieval.encoders.baselines.baseline_networks import Baseline

TEXTS_A_BATCH: Final = 256


@dataclass(frozen=True)
class BaselineEncoder:
    """One of `BASELINES` out of a folder that `cosqa train` wrote."""

    kind: str
    source: str

    @property
    def name(self) -> str:
        """The name that `retrieval.encoders.find_encoder` takes."""
        return f"{self.kind}:{self.source}" if self.source else self.kind

    @cached_property
    def folder(self) -> Path:
        """The folder of the weights. Raises `MissingWeights`."""
        return self.locate()

    def locate(self) -> Path:
        """Find the folder of the weights without importing torch. Raises `MissingWeights`."""
        if not self.source:
            raise MissingWeights(
                f"{self.kind} has no weights of its own; train it with: "
                f"cosqa train BENCHMARK --system {self.kind}"
            )
        fault = library_fault()
        if fault:
            raise MissingWeights(f"{self.name}: {fault}")
        folder = Path(self.source).expanduser()
        for name in (CONFIG, WEIGHTS, *map(vocabulary_file, KINDS)):
            if not (folder / name).is_file():
                raise MissingWeights(
                    f"{self.name}: {name} is missing in {folder}; name a trained system's folder"
                )
        if read_baseline_config(folder)["system"] != self.kind:
            raise MissingWeights(f"{self.name}: {folder} has a {read_baseline_config(folder)['system']}")
        return folder

    @cached_property
    def identity(self) -> str:
        """Name, content of the weights and lengths. Raises `MissingWeights`."""
        vocabularies = [self.folder / vocabulary_file(kind) for kind in KINDS]
        digest = digest_weights(self.folder, vocabularies)
        return f"{self.kind};weights={digest};lengths={LENGTHS['query']},{LENGTHS['snippet']}"

    @cached_property
    def dimension(self) -> int:
        """Length of a vector. Raises `MissingWeights`."""
        return int(read_baseline_config(self.folder)["dimension"])

    @cached_property
    def _loaded(self) -> Baseline:
        from retrieval.encoders.baselines.baseline_networks import load_baseline

        return load_baseline(self.folder)

    def encode(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Floats:
        """Return float32 vectors of shape (len(texts), dimension), each of length 1.

        Raises `MissingWeights`.
        """
        from retrieval.encoders.baselines.baseline_networks import encode_texts

        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_A_BATCH):
            part = texts[start : start + TEXTS_A_BATCH]
            vectors[start : start + len(part)] = encode_texts(self._loaded, part, kind)
            if progress is not None:
                progress(start + len(part), len(texts))
        return vectors
