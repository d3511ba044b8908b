"""Models that are trained: token ids of queries and snippets to vectors. Importing this imports torch.

A model is a transformer that both kinds of text share, or a baseline with a network for each.
"""

from __future__ import annotations

import shutil
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from torch import Tensor, nn

from retrieval.encoders.base import Kind
from retrieval.encoders.baselines.baseline_files import DIMENSION, KINDS, ONE_VOCABULARY
from retrieval.encoders.baselines.baseline_networks import PADDING_ID, Baseline, WordVectors
from retrieval.encoders.dense.architectures import Architecture, Model, Tokenizer, quiet_transformers
from retrieval.encoders.dense.transformer import TransformerEncoder, tokenize_texts
from retrieval.encoders.dense.weights import SENTENCE_PIECES, TOKENIZER_FILES
from retrieval.training.vocabulary import train_vocabulary
from retrieval.training.word_vectors import inverse_document_frequencies, train_word_vectors

COPIED: Final = (
    *TOKENIZER_FILES,
    *SENTENCE_PIECES,
    "special_tokens_map.json",
    "added_tokens.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "[0-9]*_*/config.json",
)
"""What of a model's folder fine-tuning leaves as it was."""


class DualEncoder(nn.Module):
    """A model with its tokenizer; `padding` is the id that fills a batch up."""

    padding: int

    @abstractmethod
    def tokenize(self, texts: Sequence[str], kind: Kind) -> list[list[int]]:
        """Token ids as `embed` takes them, at least one for each text."""

    @abstractmethod
    def embed(self, kind: Kind, ids: Tensor, mask: Tensor) -> Tensor:
        """Vectors of any length, shape (texts, dimension)."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write a folder that the encoder of this kind takes."""


class TransformerDual(DualEncoder):
    """CodeBERT, UniXcoder, CodeT5+ or MiniLM, framed and pooled as its architecture says."""

    def __init__(self, architecture: Architecture, tokenizer: Tokenizer, model: Model, source: Path) -> None:
        super().__init__()
        self.model = model
        self.architecture, self.tokenizer, self.source = architecture, tokenizer, source
        self.padding = int(tokenizer.pad_token_id)

    @classmethod
    def of(cls, encoder: TransformerEncoder) -> TransformerDual:
        """The encoder's model with the usual attention. Raises `MissingWeights`."""
        tokenizer, model = encoder.architecture.load(encoder.folder)
        return cls(encoder.architecture, tokenizer, model, encoder.folder)

    def tokenize(self, texts: Sequence[str], kind: Kind) -> list[list[int]]:
        return tokenize_texts(self.architecture, self.tokenizer, texts, kind)

    def embed(self, kind: Kind, ids: Tensor, mask: Tensor) -> Tensor:
        assert self.architecture.pool is not None, "trainable architectures pool here"
        return self.architecture.pool(self.model, ids, mask)

    def save(self, folder: Path) -> None:
        for pattern in COPIED:
            for file in self.source.glob(pattern):
                (folder / file.parent.relative_to(self.source)).mkdir(exist_ok=True)
                shutil.copyfile(file, folder / file.relative_to(self.source))
        with quiet_transformers():
            self.model.save_pretrained(folder)


@dataclass(frozen=True, slots=True)
class WordSettings:
    """How vectors of words are learned before pairs."""

    epochs: int = 5
    learning_rate: float = 0.01


class BaselineDual(DualEncoder):
    """A system that starts from random weights: one of CodeSearchNet's baselines, NCS or UNIF."""

    def __init__(self, baseline: Baseline) -> None:
        super().__init__()
        self.baseline = baseline
        self.word_losses: list[float] = []
        self.padding = PADDING_ID

    @classmethod
    def from_texts(
        cls, system: str, texts: Mapping[Kind, Sequence[str]], vocabulary: int, words: WordSettings
    ) -> BaselineDual:
        """A fresh one, with vocabularies out of these texts; its weights are drawn by torch's seed."""
        if system not in ONE_VOCABULARY:
            return cls(Baseline(system, {kind: train_vocabulary(texts[kind], vocabulary) for kind in KINDS}))
        shared = train_vocabulary([text for kind in KINDS for text in texts[kind]], vocabulary)
        made = cls(Baseline(system, dict.fromkeys(KINDS, shared)))
        made.learn_words(texts, words)
        return made

    def learn_words(self, texts: Mapping[Kind, Sequence[str]], words: WordSettings) -> None:
        """Give words of both kinds the same vectors, learned from all texts, and their weights in code."""
        tokens = {kind: self.tokenize(texts[kind], kind) for kind in KINDS}
        size = self.baseline.vocabularies["query"].get_vocab_size()
        every = [text for kind in KINDS for text in tokens[kind]]
        vectors, self.word_losses = train_word_vectors(
            every, size, DIMENSION, words.epochs, words.learning_rate
        )
        vectors[PADDING_ID] = 0
        idf = inverse_document_frequencies(tokens["snippet"], size)
        for network in self.baseline.networks.values():
            assert isinstance(network, WordVectors), "such systems are made of words"
            network.set_words(vectors, idf)

    def tokenize(self, texts: Sequence[str], kind: Kind) -> list[list[int]]:
        return self.baseline.tokenize(texts, kind)

    def embed(self, kind: Kind, ids: Tensor, mask: Tensor) -> Tensor:
        found: Tensor = self.baseline(kind, ids, mask)
        return found

    def save(self, folder: Path) -> None:
        self.baseline.save(folder)


def shared_once(tensors: Mapping[str, Any]) -> dict[str, Tensor]:
    """Each tensor under its first name: safetensors refuses two names for one memory."""
    seen = set[int]()
    found = dict[str, Tensor]()
    for name, tensor in tensors.items():
        if tensor.data_ptr() not in seen:
            seen.add(tensor.data_ptr())
            found[name] = tensor
    return found
