"""An encoder of a spec: any model that transformers can load without code of its own, pooled as was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from retrieval.encoders.base import Kind
from retrieval.encoders.dense.architectures import (
    ANY_TOKENIZER,
    Architecture,
    Model,
    Tokenizer,
    load_as_declared,
    load_plain,
    mean_of_states,
    pooler_output,
)
from retrieval.encoders.dense.model_card import (
    Declared,
    OtherConfiguration,
    load_model_json,
    read_model_declaration,
)
from retrieval.encoders.dense.specs import Spec
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.encoders.dense.weights import (
    SENTENCE_PIECES,
    digest_folder,
    digest_weights,
    hub_folder,
    require_model_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

SIZES: Final = ("hidden_size", "d_model", "n_embd", "dim")
"""Under which of these keys a configuration tells how long a state is."""

AFTER_PADDING: Final = frozenset(
    {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer", "xmod", "data2vec-text"}
)
"""Models whose positions begin after that of the padding, which takes two of them."""

MORE_OF_TOKENIZERS: Final = ("special_tokens_map.json", *SENTENCE_PIECES)

PARTED: Final = frozenset({"Router", "Asym", "StaticEmbedding"})
"""Modules that stand in the place of a transformer, each with files of its own."""

POOLING_STEPS: Final = PARTED | {"Pooling"}
"""Modules that make one vector of a text."""

SAME: Final = {"last": "lasttoken", "eos": "lasttoken"}
"""What files of sentence-transformers call a pooling, where it is another word."""


def first_state(model: Model, ids: Tensor, mask: Tensor | None) -> Tensor:
    """The first position."""
    state: Tensor = model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]
    return state


def last_state(model: Model, ids: Tensor, mask: Tensor | None) -> Tensor:
    """The last position that is not padding."""
    import torch

    hidden: Tensor = model(input_ids=ids, attention_mask=mask).last_hidden_state
    if mask is None:
        return hidden[:, -1]
    return hidden[torch.arange(len(hidden), device=hidden.device), mask.sum(dim=1) - 1]


def largest_states(model: Model, ids: Tensor, mask: Tensor | None) -> Tensor:
    """The largest of each number over what is not padding."""
    hidden: Tensor = model(input_ids=ids, attention_mask=mask).last_hidden_state
    if mask is not None:
        hidden = hidden.masked_fill(mask.unsqueeze(-1) == 0, float("-inf"))
    return hidden.amax(dim=1)


POOLS: Final[Mapping[str, Callable[[Model, Tensor, Tensor | None], Tensor] | None]] = {
    "cls": first_state,
    "mean": mean_of_states,
    "last": last_state,
    "eos": last_state,
    "max": largest_states,
    "pooler": pooler_output,
    "declared": None,
}


def architecture_of(spec: Spec) -> Architecture:
    """How a spec's model is fed and pooled."""

    def load(folder: Path) -> tuple[Tokenizer, Model]:
        if spec.pooling == "declared":
            return load_as_declared(folder)
        return load_plain(folder, pooler=spec.pooling == "pooler")

    return Architecture(
        hub_id=spec.hf_id,
        lengths=spec.lengths,
        tokenizer_files=ANY_TOKENIZER,
        dimension_key="hidden_size",
        load=load,
        frame=None,
        pool=POOLS[spec.pooling],
        prefixes={kind: text or "" for kind, text in spec.prefixes.items()},
    )


@dataclass(frozen=True)
class SpecifiedEncoder(TransformerEncoder):
    """The encoder that `spec` describes; made by `of`."""

    spec: Spec | None = None

    @classmethod
    def of(cls, spec: Spec) -> SpecifiedEncoder:
        return cls(kind=spec.name, spec=spec)

    @property
    def told(self) -> Spec:
        assert self.spec is not None, "made by of()"
        return self.spec

    @cached_property
    def architecture(self) -> Architecture:
        """How the model is fed and pooled."""
        return architecture_of(self.told)

    @property
    def _on_the_hub(self) -> tuple[str, str]:
        return self.told.hf_id, self.told.revision or "main"

    def _find(self) -> Path:
        return Path(self.told.folder) if self.told.folder else hub_folder(*self._on_the_hub)

    def _refuse_other(self, folder: Path) -> None:
        """Raises `OtherConfiguration` for what can't work, whatever was meant."""
        found = read_model_declaration(folder)
        if self.told.pooling == "declared" and not POOLING_STEPS.intersection(found.modules):
            raise OtherConfiguration(
                f"{self.name}: modules.json in {folder} names no pooling; say which in the spec"
            )
        if self._in_parts(found):
            return
        cut, most = max(self.told.lengths.values()), count_model_positions(folder)
        if most and cut > most:
            raise OtherConfiguration(
                f"{self.name}: the model takes {most} tokens, but texts are cut at {cut}"
            )
        dimension_of(folder, self.name)

    def warnings(self) -> list[str]:
        """What the model's own files say otherwise. Raises `MissingWeights`."""
        return list(find_spec_differences(self.told, read_model_declaration(self.folder)))

    @cached_property
    def dimension(self) -> int:
        """Length of a vector. Raises `MissingWeights`."""
        if self.told.pooling != "declared":
            return dimension_of(self.folder, self.name)
        return self.declaration.dimension or int(self._loaded[1].get_embedding_dimension())

    @cached_property
    def weights(self) -> str:
        """What the weights, the tokenizer and the steps after them are known by. Raises `MissingWeights`."""
        if self._in_parts(self.declaration):
            return digest_folder(self.folder)
        if self.told.pooling == "declared":
            return self._digest()
        return digest_weights(self.folder, [self.folder / name for name in MORE_OF_TOKENIZERS])

    @cached_property
    def identity(self) -> str:
        """All of the spec but where a folder lies, and what the weights are. Raises `MissingWeights`."""
        told = f"spec {self.name};weights={self.weights};{self.told.canonical()}"
        return told + self._as_declared() + self._in_short()

    def _as_declared(self) -> str:
        """What the model's own files add to the identity, where they are followed."""
        if self.told.pooling != "declared":
            return ""
        found, longest = self.declaration, max(self.told.lengths.values())
        prefixes = {kind: self._prefix(kind) for kind in self.told.prefixes}
        given = {kind: text or "" for kind, text in self.told.prefixes.items()}
        return "".join(
            (
                f";prompts={list(prefixes.values())}" if prefixes != given else "",
                ";prompts not pooled" if any(prefixes.values()) and not found.pools_prompt else "",
                found.changes,
                f";cut={found.longest}" if found.longest and found.longest < longest else "",
            )
        )

    def _prefix(self, kind: Kind) -> str:
        """What texts begin with: as the spec says, else as the model's own files."""
        told = self.told.prefixes[kind]
        return self.declaration.own_prompt(kind) if told is None else told

    def _in_parts(self, found: Declared) -> bool:
        """Whether the model is no transformer with steps after it, but lies in folders of its own."""
        return self.told.pooling == "declared" and not PARTED.isdisjoint(found.modules)

    def _require_files(self, folder: Path) -> Path:
        parted = folder.is_dir() and self._in_parts(read_model_declaration(folder))
        known = self.architecture.hub_id, self.architecture.tokenizer_files
        return folder if parted else require_model_files(folder, *known)

    def _inputs(self, texts: Sequence[str], kind: Kind) -> list[list[int]]:
        found = super()._inputs(texts, kind)
        tokenizer, _ = self._loaded
        end = tokenizer.eos_token_id if tokenizer.eos_token_id is not None else tokenizer.sep_token_id
        if self.told.pooling == "eos":
            if end is None:
                raise OtherConfiguration(
                    f"{self.name}: the tokenizer has no token that ends a text; pool by last"
                )
            limit = self.told.lengths[kind]
            return [ids if ids[-1:] == [end] else [*ids[: limit - 1], end] for ids in found]
        return [ids or [tokenizer.pad_token_id] for ids in found]


def dimension_of(folder: Path, name: str) -> int:
    """How long a state of the model is, as its configuration tells. Raises `OtherConfiguration`."""
    config = load_model_json(folder / "config.json", {})
    for part in (config, config.get("text_config") or {}):
        for key in SIZES:
            if isinstance(part.get(key), int):
                return int(part[key])
    raise OtherConfiguration(
        f"{name}: config.json in {folder} names none of {', '.join(SIZES)}: this is no model of transformers"
    )


def count_model_positions(folder: Path) -> int | None:
    """How many tokens the model has positions for; None where that is not bounded or not told."""
    config: dict[str, Any] = load_model_json(folder / "config.json", {})
    most = config.get("max_position_embeddings")
    if not isinstance(most, int):
        return None
    if config.get("model_type") in AFTER_PADDING:
        return most - 1 - int(config.get("pad_token_id") or 1)
    return most


def find_spec_differences(spec: Spec, found: Declared) -> Iterator[str]:
    """What the files of a model say otherwise than its spec, without being wrong."""
    if spec.pooling != "declared":
        yield from find_steps_left_out(spec, found)
    if found.longest and max(spec.lengths.values()) > found.longest:
        cut = max(spec.lengths.values())
        followed = ", and so are they here" if spec.pooling == "declared" else ""
        yield f"its files cut texts at {found.longest} tokens{followed}, the spec at {cut}"
    for kind, prefix in spec.prefixes.items():
        stated = found.prompt(kind)
        if None not in (stated, prefix) and stated != prefix:
            yield f"its files begin a {kind} with {stated!r}, the spec with {prefix!r}"


def find_steps_left_out(spec: Spec, found: Declared) -> Iterator[str]:
    """What the files of a model do, but not a spec that pools by itself."""
    if found.pooling and found.pooling != SAME.get(spec.pooling, spec.pooling):
        yield f"its files pool by {found.pooling}, the spec by {spec.pooling}"
    elif "Dense" in found.modules:
        yield "its files have a dense layer, which the spec leaves out; pooling declared runs it"
    if not found.pools_prompt and any(spec.prefixes.values()):
        yield "its files leave the prompt out of the pooling, which the spec does not; pooling declared does"
    if found.kept:
        yield f"its files keep {found.kept} numbers of a vector, the spec all; pooling declared keeps as many"
