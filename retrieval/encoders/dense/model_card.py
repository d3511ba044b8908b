"""What a model's own files say of it, and where that differs from what is known here.

The files of sentence-transformers: modules.json names the steps after the transformer, 1_Pooling/config.json
the pooling, config_sentence_transformers.json the prompts, sentence_bert_config.json the length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retrieval.encoders.base import Kind, MissingWeights
from retrieval.encoders.registry import Known
from retrieval.texts.small_files import read_small_json

MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "lasttoken",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
}
PROMPTS: Mapping[Kind, tuple[str, ...]] = {
    "query": ("query", "InstructionRetrieval", "Retrieval-query", "nl2code_query"),
    "snippet": ("document", "passage", "Retrieval-document", "nl2code_document"),
}
"""By what names files call the prompts of queries and of what is searched."""

OWN_PROMPTS: Mapping[Kind, tuple[str, ...]] = {
    "query": ("query",),
    "snippet": ("document", "passage", "corpus"),
}
"""By what names sentence-transformers looks for them."""
KNOWN_STEPS = frozenset({"Transformer", "Pooling", "Dense", "Normalize", "Dropout", "LayerNorm"})
"""Of a model's modules, those after which it is known here how long vectors are."""

SENTENCES = "sentence_bert_config.json"
LENGTH_KEYS = ("max_position_embeddings", "n_positions")


class OtherConfiguration(MissingWeights):
    """The files are there, but say of the model what is not known of it: it would be run wrongly."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What the files say; None and empty where they say nothing.

    `dimension`: how long vectors are, None also where a step is not known here; `kept`: to how many numbers
    they are cut; `pools_prompt`: whether a prompt's tokens take part in the pooling.
    """

    pooling: str | None = None
    dimension: int | None = None
    longest: int | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    kept: int | None = None
    pools_prompt: bool = True
    default_prompt: str | None = None
    lower_case: bool = False
    step_folders: tuple[Path, ...] = ()

    @property
    def changes(self) -> str:
        """What the files change of vectors beside weights and steps, for the identity of who follows them."""
        kept, lower = f";kept={self.kept}" if self.kept else "", ";lower case" if self.lower_case else ""
        return kept + lower

    def own_prompt(self, kind: Kind) -> str:
        """What the model begins a kind of text with, if nothing else is said; empty for nothing.

        The prompt of the kind, else the one that all texts are to have, unless that is the other kind's.
        """
        named = [self.prompts[name] for name in OWN_PROMPTS[kind] if self.prompts.get(name)]
        kinds = {name for names in OWN_PROMPTS.values() for name in names}
        shared = "" if self.default_prompt in kinds else self.prompts.get(self.default_prompt or "", "")
        return named[0] if named else shared

    def prompt(self, kind: Kind) -> str | None:
        """The first prompt that fits a kind of text."""
        return next((self.prompts[name] for name in PROMPTS[kind] if name in self.prompts), None)


def read_model_declaration(folder: Path) -> Declared:
    """Read a model's folder. Raises `OtherConfiguration` for a file that is no JSON."""
    steps = load_model_json(folder / "modules.json", [])
    paths = {str(step["type"]).rpartition(".")[2]: folder / str(step["path"]) for step in steps}
    pooling = load_model_json(paths["Pooling"] / "config.json", {}) if "Pooling" in paths else {}
    dense = load_model_json(paths["Dense"] / "config.json", {}) if "Dense" in paths else {}
    about = load_model_json(folder / "config_sentence_transformers.json", {})
    kept = about.get("truncate_dim")
    return Declared(
        pooling=pooling_mode(pooling),
        dimension=declared_dimension(paths, pooling, dense, kept),
        longest=declared_token_limit(folder),
        prompts={str(name): str(text) for name, text in (about.get("prompts") or {}).items()},
        modules=tuple(paths),
        kept=kept,
        pools_prompt=bool(pooling.get("include_prompt", True)),
        default_prompt=about.get("default_prompt_name"),
        lower_case=bool(load_model_json(folder / SENTENCES, {}).get("do_lower_case")),
        step_folders=tuple(path for path in paths.values() if path != folder),
    )


def declared_dimension(
    steps: Iterable[str], pooling: Mapping[str, Any], dense: Mapping[str, Any], kept: int | None
) -> int | None:
    """How long vectors are after these steps; None where the files do not tell, or a step is not known."""
    pooled = pooling.get("embedding_dimension", pooling.get("word_embedding_dimension"))
    modes = (pooling_mode(pooling) or "").count("+") + 1
    whole = dense.get("out_features") or (pooled * modes if pooled else None)
    if whole is None or not KNOWN_STEPS.issuperset(steps):
        return None
    return min(whole, kept) if kept else int(whole)


def pooling_mode(pooling: Mapping[str, Any]) -> str | None:
    """The pooling's name, several joined by a plus sign; None where nothing is said."""
    named = pooling.get("pooling_mode")
    if named:
        return named if isinstance(named, str) else "+".join(map(str, named))
    return "+".join(name for key, name in MODES.items() if pooling.get(key)) or None


def declared_token_limit(folder: Path) -> int | None:
    """How many tokens the model takes at most."""
    stated = load_model_json(folder / SENTENCES, {}).get("max_seq_length")
    config = load_model_json(folder / "config.json", {})
    return stated or next((int(config[key]) for key in LENGTH_KEYS if config.get(key)), None)


def load_model_json(file: Path, empty: Any) -> Any:
    if not file.is_file():
        return empty
    try:
        return read_small_json(file)
    except ValueError as error:
        raise OtherConfiguration(f"{file} is no JSON ({error}); download it again") from error


def find_declaration_faults(known: Known, found: Declared) -> Iterator[str]:
    """What would make the vectors others than the model's."""
    if found.pooling and found.pooling != known.pooling:
        yield f"its files pool by {found.pooling}, not by {known.pooling}"
    cut = max(known.lengths.values())
    if found.longest and cut > found.longest:
        yield f"it takes {found.longest} tokens, but texts are cut at {cut}"


def find_declaration_warnings(known: Known, found: Declared) -> Iterator[str]:
    """What may be meant otherwise, such as another size of the same model."""
    if found.dimension and found.dimension != known.dimension:
        yield f"its vectors have {found.dimension} dimensions, not {known.dimension}"
    for kind, prefix in known.prefixes.items():
        stated = found.prompt(kind)
        if stated is not None and stated != prefix and not (known.chosen and kind == "query"):
            yield f"its files begin a {kind} with {stated!r}, here it begins with {prefix!r}"
