"""The transformer encoders: how each frames its input, loads and pools.

CodeBERT, UniXcoder and CodeT5+ as CoSQA+'s evaluation script runs them; MiniLM as its model card says.
The only functions that build a model; torch and transformers are imported inside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from retrieval.encoders.base import Kind, MissingWeights
from retrieval.encoders.dense.model_card import read_model_declaration
from retrieval.encoders.dense.weights import STATE_FILE, WEIGHT_FILES
from retrieval.encoders.registry import CURRENT, NATIVE, NO_PREFIX
from retrieval.texts.small_files import read_small_json

if TYPE_CHECKING:
    from torch import Tensor

# transformers publishes no usable types for models and tokenizers.
Tokenizer: TypeAlias = Any
Model: TypeAlias = Any

MOST_WRAPPERS: Final = 3
"""So many names of wrappers may stand before a tensor's own."""
BYTE_PAIRS = (("tokenizer.json",), ("vocab.json", "merges.txt"))
WORD_PIECES = (("tokenizer.json",), ("vocab.txt",))


@dataclass(frozen=True, slots=True)
class Architecture:
    """One kind of transformer encoder.

    `frame` turns token ids without special tokens into the model's input of at most so many ids; where it is
    None, the tokenizer frames and cuts, and the text is not touched but for `prefixes`. `pool` maps (model,
    ids, mask), both of shape (texts, longest), to vectors (texts, dimension); where it is None, all is done
    as the model's own files declare.
    """

    hub_id: str
    lengths: Mapping[Kind, int]
    tokenizer_files: Sequence[Sequence[str]]
    dimension_key: str
    load: Callable[[Path], tuple[Tokenizer, Model]]
    frame: Callable[[Tokenizer, list[int], int], list[int]] | None
    pool: Callable[[Model, Tensor, Tensor | None], Tensor] | None
    prefixes: Mapping[Kind, str] = field(default_factory=lambda: NO_PREFIX)
    by_products: bool = False
    """Whether the model takes `retrieval.encoders.dense.attention`; those with positions in their scores
    can't."""

    def dimension(self, folder: Path) -> int:
        """Read the length of a vector from the model's configuration."""
        stated = None if self.frame else read_model_declaration(folder).dimension
        return stated or int(read_small_json(folder / "config.json")[self.dimension_key])


def between_cls_and_sep(tokenizer: Tokenizer, ids: list[int], limit: int) -> list[int]:
    """[CLS] text [SEP]."""
    return [tokenizer.cls_token_id, *ids[: limit - 2], tokenizer.sep_token_id]


def encoder_only_mode(tokenizer: Tokenizer, ids: list[int], limit: int) -> list[int]:
    """[CLS] <encoder-only> [SEP] text [SEP]: UniXcoder's prefix for representations."""
    mode = tokenizer.convert_tokens_to_ids("<encoder-only>")
    if mode in (None, tokenizer.unk_token_id):
        raise MissingWeights("the tokenizer has no <encoder-only> token, so these are not UniXcoder's files")
    separator = tokenizer.sep_token_id
    return [tokenizer.cls_token_id, mode, separator, *ids[: limit - 4], separator]


def cut_after_framing(tokenizer: Tokenizer, ids: list[int], limit: int) -> list[int]:
    """[CLS] text [SEP], then cut: a long text loses its [SEP], as in the authors' `encode(text)[:limit]`."""
    return [tokenizer.cls_token_id, *ids, tokenizer.sep_token_id][:limit]


def pooler_output(model: Model, ids: Tensor, mask: Tensor | None) -> Tensor:
    """The first position through BERT's trained dense layer and tanh."""
    pooled: Tensor = model(input_ids=ids, attention_mask=mask).pooler_output
    return pooled


def mean_of_states(model: Model, ids: Tensor, mask: Tensor | None) -> Tensor:
    """Mean of the last hidden states over what is not padding, special tokens included."""
    hidden: Tensor = model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
    if mask is None:
        return hidden.mean(dim=1)
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


def projected_first_state(model: Model, ids: Tensor, mask: Tensor | None) -> Tensor:
    """The first position through CodeT5+'s linear projection."""
    projected: Tensor = model.proj(model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0])
    return projected


def load_roberta_with_pooler(folder: Path) -> tuple[Tokenizer, Model]:
    """Load CodeBERT."""
    from transformers import RobertaModel, RobertaTokenizer

    return RobertaTokenizer.from_pretrained(folder), _load(RobertaModel, folder)


def load_tuned_codebert(folder: Path) -> tuple[Tokenizer, Model]:
    """Load CodeBERT as `cosqa train` or transformers wrote it, else from the state that a script saved."""
    from transformers import RobertaModel, RobertaTokenizer

    if any((folder / name).is_file() for name in WEIGHT_FILES):
        return load_roberta_with_pooler(folder)
    return RobertaTokenizer.from_pretrained(folder), load_wrapped_state(RobertaModel, folder)


def load_wrapped_state(kind: Model, folder: Path) -> Model:
    """A model of `kind` with the tensors of `model.bin`, by the prefix under which most of them have a place.

    Of the file tensors alone are read, never code. Raises `MissingWeights`.
    """
    import torch

    path = folder / STATE_FILE
    model = kind(kind.config_class.from_pretrained(folder, local_files_only=True))
    own = model.state_dict()
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
        held = {str(name): tensor for name, tensor in found.items() if isinstance(tensor, torch.Tensor)}
        prefix = find_wrapper_prefix(held, own)
        fitting = {name: held[prefix + name].float() for name in own if prefix + name in held}
        if missing := sorted(own.keys() - fitting.keys()):
            raise MissingWeights(
                f"the weights in {path} lack {missing[0]} and {len(missing) - 1} more tensors"
            )
        model.load_state_dict(fitting)
    except (AttributeError, EOFError, OSError, RuntimeError, UnpicklingError) as why:
        told = " ".join(str(why).split())[:300]
        raise MissingWeights(
            f"{path} holds no weights of this model that can be read safely: {told}"
        ) from why
    return model.eval()


def find_wrapper_prefix(held: Iterable[str], own: Collection[str]) -> str:
    """What names of tensors begin with before those of the model, such as `encoder.` or `module.encoder.`."""
    counts = Counter[str]()
    for name in held:
        parts = name.split(".")
        for length in range(min(len(parts), MOST_WRAPPERS + 1)):
            if ".".join(parts[length:]) in own:
                counts["".join(f"{part}." for part in parts[:length])] += 1
    return counts.most_common(1)[0][0] if counts else ""


def load_jina_v3(folder: Path) -> tuple[Tokenizer, Model]:
    """Load Jina's third embeddings by transformers' own class; the adapters of its tasks are left out."""
    from transformers import AutoTokenizer, JinaEmbeddingsV3Model

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    return tokenizer, _load(JinaEmbeddingsV3Model, folder, ("pooler.",))


def load_roberta(folder: Path) -> tuple[Tokenizer, Model]:
    """Load UniXcoder, whose pooler is not used."""
    from transformers import RobertaModel, RobertaTokenizer

    return RobertaTokenizer.from_pretrained(folder), _load(RobertaModel, folder, add_pooling_layer=False)


def load_bert(folder: Path) -> tuple[Tokenizer, Model]:
    """Load MiniLM, whose pooler is not used."""
    from transformers import BertModel, BertTokenizer

    return BertTokenizer.from_pretrained(folder), _load(BertModel, folder, add_pooling_layer=False)


def load_codet5p(folder: Path) -> tuple[Tokenizer, Model]:
    """Load CodeT5+ from its own checkpoint without running the code that comes with it."""
    from transformers import RobertaTokenizer, T5Config

    settings = read_small_json(folder / "config.json")
    for key in ("auto_map", "model_type", "architectures"):
        settings.pop(key, None)
    model = _load(_projecting_t5(), folder, config=T5Config(**settings))
    return RobertaTokenizer.from_pretrained(folder), model


@cache
def _projecting_t5() -> Model:
    from torch import nn
    from transformers import T5EncoderModel

    class ProjectingT5(T5EncoderModel):  # type: ignore[no-untyped-call]  # its base has an untyped hook
        """T5's encoder with the linear layer of Salesforce/codet5p-110m-embedding."""

        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.proj = nn.Linear(config.d_model, config.embed_dim)

    return ProjectingT5


def _load(kind: Model, folder: Path, unused: tuple[str, ...] = (), **options: Any) -> Model:
    """Load weights in float32 and refuse to fill gaps with random numbers, but in parts that are `unused`."""
    import torch

    with quiet_transformers():
        model, report = kind.from_pretrained(
            folder, local_files_only=True, dtype=torch.float32, output_loading_info=True, **options
        )
    missing = sorted(key for key in report["missing_keys"] if not key.startswith(unused))
    if missing:
        raise MissingWeights(f"the weights in {folder} lack {missing[0]} and {len(missing) - 1} more tensors")
    return model.eval()


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keep loading's progress bar and its table of unused tensors out of the terminal."""
    import transformers

    logging: Any = transformers.logging
    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()


def load_as_declared(folder: Path) -> tuple[Tokenizer, Model]:
    """Load a model with the steps that its own files name, without running code that comes with it."""
    import torch
    from sentence_transformers import SentenceTransformer

    here: Any = {"device": "cpu", "local_files_only": True, "trust_remote_code": False}
    try:
        with quiet_transformers():
            model = SentenceTransformer(str(folder), model_kwargs={"dtype": torch.float32}, **here)
    except (ImportError, KeyError, OSError, TypeError, ValueError) as why:
        raise MissingWeights(
            f"sentence-transformers can't load what is in {folder} without code that comes with it: "
            f"{' '.join(str(why).split())[:300]}"
        ) from why
    return model.tokenizer, model.eval()


def encode_as_declared(model: Model, texts: Sequence[str], kind: Kind, prefix: str, limit: int) -> Tensor:
    """Vectors by all that the model's files name, shape (texts, dimension).

    That is its route for the kind, pooling, the steps after it, and how many numbers are kept.
    Texts are cut at `limit` tokens, or at the model's own if that is lower.
    """
    encode = model.encode_query if kind == "query" else model.encode_document
    cut = {"max_length": min(limit, model.max_seq_length or limit), "truncation": True}
    found: Tensor = encode(
        list(texts),
        prompt=prefix,
        batch_size=len(texts),
        show_progress_bar=False,
        convert_to_tensor=True,
        processing_kwargs={"text": cut},
    )
    return found


def load_plain(folder: Path, pooler: bool) -> tuple[Tokenizer, Model]:
    """Load any model that transformers knows, of an encoder with a decoder the first alone.

    No code that comes with it is run. `pooler`: whether the layer of that name is wanted, which many models
    are published without.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    here: Any = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = AutoConfig.from_pretrained(folder, **here)
        unused = (*(("decoder.",) if config.is_encoder_decoder else ()), *(() if pooler else ("pooler.",)))
        tokenizer: Tokenizer = AutoTokenizer.from_pretrained(folder, **here)
        model = _load(AutoModel, folder, unused, trust_remote_code=False)
    except (ImportError, KeyError, OSError, TypeError, ValueError) as why:
        raise MissingWeights(
            f"transformers can't load what is in {folder} without code that comes with it: "
            f"{' '.join(str(why).split())[:300]}"
        ) from why
    if pooler and getattr(model, "pooler", None) is None:
        raise MissingWeights(f"the model in {folder} has no pooler; pool by cls or mean")
    model.config.use_cache = False
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    return tokenizer, model.get_encoder() if config.is_encoder_decoder else model


ANY_TOKENIZER = (*BYTE_PAIRS, ("vocab.txt",), ("sentencepiece.bpe.model",), ("tokenizer.model",))

PAPERS: dict[str, Architecture] = {
    "minilm": Architecture(
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
        lengths={"query": 256, "snippet": 256},
        tokenizer_files=WORD_PIECES,
        dimension_key="hidden_size",
        load=load_bert,
        frame=between_cls_and_sep,
        pool=mean_of_states,
        by_products=True,
    ),
    "codebert": Architecture(
        hub_id="microsoft/codebert-base",
        lengths={"query": 128, "snippet": 256},
        tokenizer_files=BYTE_PAIRS,
        dimension_key="hidden_size",
        load=load_roberta_with_pooler,
        frame=between_cls_and_sep,
        pool=pooler_output,
        by_products=True,
    ),
    "unixcoder": Architecture(
        hub_id="microsoft/unixcoder-base",
        lengths={"query": 128, "snippet": 256},
        tokenizer_files=BYTE_PAIRS,
        dimension_key="hidden_size",
        load=load_roberta,
        frame=encoder_only_mode,
        pool=mean_of_states,
        by_products=True,
    ),
    "codet5p": Architecture(
        hub_id="Salesforce/codet5p-110m-embedding",
        lengths={"query": 64, "snippet": 360},
        tokenizer_files=BYTE_PAIRS,
        dimension_key="embed_dim",
        load=load_codet5p,
        frame=cut_after_framing,
        pool=projected_first_state,
    ),
}

TUNED: dict[str, Architecture] = {
    "codebert-csn": replace(PAPERS["codebert"], load=load_tuned_codebert),
}
"""Those that only a folder of one's own has the weights of."""

NATIVES: dict[str, Architecture] = {
    "jina-v3": Architecture(
        hub_id=NATIVE["jina-v3"].hub_id,
        lengths=NATIVE["jina-v3"].lengths,
        tokenizer_files=ANY_TOKENIZER,
        dimension_key="hidden_size",
        load=load_jina_v3,
        frame=None,
        pool=mean_of_states,
    ),
}
"""Those whose own files name code, in the place of which transformers has a class."""

ARCHITECTURES: Mapping[str, Architecture] = (
    PAPERS
    | TUNED
    | NATIVES
    | {
        name: Architecture(
            hub_id=known.hub_id,
            lengths=known.lengths,
            tokenizer_files=ANY_TOKENIZER,
            dimension_key="hidden_size",
            load=load_as_declared,
            frame=None,
            pool=None,
            prefixes=known.prefixes,
        )
        for name, known in CURRENT.items()
    }
)
