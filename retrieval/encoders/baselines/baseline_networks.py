"""The networks of CodeSearchNet's baselines; importing this imports torch.

Each maps token ids of shape (texts, longest) to vectors (texts, 128). Padding never changes a vector.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from retrieval.encoders.base import Floats, Kind, MissingWeights
from retrieval.encoders.baselines.baseline_files import (
    BASELINES,
    CONFIG,
    DIMENSION,
    KINDS,
    LENGTHS,
    MODEL_TYPE,
    WEIGHTS,
    read_baseline_config,
    split_words,
    vocabulary_file,
)
from retrieval.encoders.dense.transformer import pad_ids, unit_vectors

PADDING, UNKNOWN = "[PAD]", "[UNK]"
PADDING_ID: Final = 0
UNKNOWN_ID: Final = 1
DROPPED: Final = 0.1
SMALLEST: Final = 1e-9
WIDTH: Final = 16
"""Tokens that a convolution sees at once."""
MAX_KNOWN_WORDS: Final = 500_000
"""Words whose byte pairs are kept, some 200 bytes each."""


class WordsAlone(nn.Module):
    """NBoW: the embeddings themselves."""

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return states


class Convolutions(nn.Module):
    """1D-CNN: learned positions, three convolutions of width 16 with residuals and tanh."""

    def __init__(self, longest: int) -> None:
        super().__init__()
        self.positions = nn.Embedding(longest, DIMENSION)
        self.layers = nn.ModuleList(nn.Conv1d(DIMENSION, DIMENSION, WIDTH) for _ in range(3))
        self.dropout = nn.Dropout(DROPPED)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        there = mask.unsqueeze(-1)
        states = (states + self.positions.weight[: states.shape[1]]) * there
        for layer in self.layers:
            around = nn.functional.pad(states.transpose(1, 2), ((WIDTH - 1) // 2, WIDTH // 2))
            states = self.dropout(torch.tanh(layer(around).transpose(1, 2) + states)) * there
        return states


class Recurrence(nn.Module):
    """biRNN: two layers of 64 LSTM cells in each direction, as in the repository (the paper says GRU)."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.LSTM(
            DIMENSION, DIMENSION // 2, num_layers=2, dropout=0.2, bidirectional=True, batch_first=True
        )

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        lengths = mask.sum(dim=1).to("cpu", torch.int64)
        packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
        found, _ = pad_packed_sequence(self.cells(packed)[0], batch_first=True, total_length=states.shape[1])
        return found


class SelfAttention(nn.Module):
    """SelfAtt: BERT's encoder with three layers, eight heads and learned positions."""

    def __init__(self, longest: int) -> None:
        super().__init__()
        self.positions = nn.Embedding(longest, DIMENSION)
        self.norm = nn.LayerNorm(DIMENSION)
        layer = nn.TransformerEncoderLayer(
            DIMENSION,
            nhead=8,
            dim_feedforward=4 * DIMENSION,
            dropout=DROPPED,
            activation="gelu",
            batch_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, num_layers=3, enable_nested_tensor=False)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        states = self.norm(states + self.positions.weight[: states.shape[1]])
        found: Tensor = self.layers(states, src_key_padding_mask=mask == 0)
        return found


BODIES: Final[Mapping[str, Callable[[int], nn.Module]]] = {
    "nbow": lambda longest: WordsAlone(),
    "cnn": Convolutions,
    "birnn": lambda longest: Recurrence(),
    "selfattn": SelfAttention,
}
"""By name; each is told how many tokens a text has at most."""


class TextNetwork(nn.Module):
    """Embeddings, a body, and the mean of states weighted by a learned sigmoid."""

    def __init__(self, body: str, vocabulary: int, longest: int) -> None:
        super().__init__()
        self.embeddings = nn.Embedding(vocabulary, DIMENSION, padding_idx=PADDING_ID)
        nn.init.xavier_uniform_(self.embeddings.weight)
        self.dropout = nn.Dropout(DROPPED)
        self.body = BODIES[body](longest)
        self.weight = nn.Linear(DIMENSION, 1, bias=False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        there = mask.bool()
        if isinstance(self.body, WordsAlone):
            states = self.dropout(self.embeddings(ids[there]))  # padding would cost half of the time
        else:
            states = self.body(self.dropout(self.embeddings(ids)), mask)[there]
        weights = torch.sigmoid(self.weight(states)).to(states.dtype)
        lengths = mask.sum(dim=1)
        whole = torch.segment_reduce(weights, "sum", lengths=lengths)
        pooled: Tensor = torch.segment_reduce(states * weights, "sum", lengths=lengths) / whole
        return pooled


class WordVectors(nn.Module):
    """NCS (Sachdev et al. 2018) and UNIF (Cambronero et al. 2019): a weighted mean of words' vectors.

    `weighting`: "mean" of queries; "tf-idf" of vectors of length 1, as NCS weights code; "attention", a
    softmax of the products with one learned vector, as UNIF does. `idf` has shape (vocabulary,).
    """

    idf: Tensor

    def __init__(self, weighting: str, vocabulary: int) -> None:
        super().__init__()
        self.weighting = weighting
        self.embeddings = nn.Embedding(vocabulary, DIMENSION, padding_idx=PADDING_ID)
        self.register_buffer("idf", torch.ones(vocabulary))
        if weighting == "attention":
            self.attention = nn.Parameter(torch.zeros(DIMENSION))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        states = self.embeddings(ids)
        there = mask.to(states.dtype)
        if self.weighting == "attention":
            weights = (states @ self.attention).masked_fill(mask == 0, float("-inf")).softmax(dim=1)
        elif self.weighting == "tf-idf":
            states = nn.functional.normalize(states, dim=2)
            # Each of a word's n places has an n-th of (1 + log n) x idf.
            counts = ((ids[:, :, None] == ids[:, None, :]) * there[:, None, :]).sum(dim=2).clamp(min=1)
            weights = self.idf[ids] * (1 + counts.log()) / counts * there
        else:
            weights = there
        whole = weights.sum(dim=1, keepdim=True).clamp(min=SMALLEST)
        pooled: Tensor = (states * weights.unsqueeze(-1)).sum(dim=1) / whole
        return pooled

    def set_words(self, vectors: Tensor, idf: Tensor) -> None:
        """Take over vectors of shape (vocabulary, dimension), and their weights in code."""
        with torch.no_grad():
            self.embeddings.weight.copy_(vectors)
            self.idf.copy_(idf)


def make_network(body: str, vocabulary: int, longest: int) -> nn.Module:
    """The network of this name."""
    return TextNetwork(body, vocabulary, longest) if body in BODIES else WordVectors(body, vocabulary)


class Baseline(nn.Module):
    """Both networks of a system, and the vocabularies that they were made for."""

    def __init__(self, system: str, vocabularies: Mapping[Kind, Tokenizer]) -> None:
        super().__init__()
        self.system, self.vocabularies = system, vocabularies
        self.pieces: dict[Kind, dict[str, list[int]]] = {kind: {} for kind in KINDS}
        self.networks = nn.ModuleDict(
            {
                kind: make_network(
                    BASELINES[system][kind], vocabularies[kind].get_vocab_size(), LENGTHS[kind]
                )
                for kind in KINDS
            }
        )

    def tokenize(self, texts: Sequence[str], kind: Kind) -> list[list[int]]:
        """Token ids of each text, cut at the kind's length; an empty text is one unknown word."""
        words = [split_words(text)[: LENGTHS[kind]] or [UNKNOWN] for text in texts]
        pieces = self._split_into_pieces({word for text in words for word in text}, kind)
        ids = ([piece for word in text for piece in pieces[word]] for text in words)
        return [found[: LENGTHS[kind]] or [UNKNOWN_ID] for found in ids]

    def _split_into_pieces(self, words: Set[str], kind: Kind) -> Mapping[str, Sequence[int]]:
        """The ids of each word's byte pairs: a word has the same ones in every text, so they are kept."""
        known = self.pieces[kind]
        if len(known) > MAX_KNOWN_WORDS:
            known = self.pieces[kind] = {}  # another thread may still read the old one
        new = [word for word in words if word not in known]
        for word, found in zip(new, self.vocabularies[kind].encode_batch(new), strict=True):
            known[word] = found.ids
        return known

    def forward(self, kind: Kind, ids: Tensor, mask: Tensor) -> Tensor:
        found: Tensor = self.networks[kind](ids, mask)
        return found

    def save(self, folder: Path) -> None:
        """Write what `load_baseline` reads."""
        told = {"model_type": MODEL_TYPE, "system": self.system, "dimension": DIMENSION}
        (folder / CONFIG).write_text(json.dumps(told, indent=2) + "\n")
        for kind in KINDS:
            self.vocabularies[kind].save(str(folder / vocabulary_file(kind)))
        save_file({name: part.contiguous() for name, part in self.state_dict().items()}, folder / WEIGHTS)


def load_baseline(folder: Path) -> Baseline:
    """The system of a folder, on the fastest device. Raises `MissingWeights`."""
    system = read_baseline_config(folder)["system"]
    try:
        vocabularies = {kind: Tokenizer.from_file(str(folder / vocabulary_file(kind))) for kind in KINDS}
        model = Baseline(system, vocabularies)
        model.load_state_dict(load_file(folder / WEIGHTS))
    except Exception as why:  # tokenizers raises Exception itself
        raise MissingWeights(f"the weights in {folder} can't be read: {str(why)[:300]}") from why
    return model.eval().to("cuda" if torch.cuda.is_available() else "cpu")


def encode_texts(model: Baseline, texts: Sequence[str], kind: Kind) -> Floats:
    """Vectors of length 1, shape (texts, dimension)."""
    device = next(model.parameters()).device
    inputs = model.tokenize(texts, kind)
    ids, mask = pad_ids(inputs, PADDING_ID, max(map(len, inputs)))
    with torch.inference_mode():
        return unit_vectors(model(kind, ids.to(device), mask.to(device)))
