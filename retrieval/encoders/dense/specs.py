"""Encoders that are described in a file: where the model is, how its states are pooled, how texts are cut.

The file is TOML or JSON, named after the encoder; docs/mining.md has an example. Nothing here loads a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from retrieval.encoders.base import Kind
from retrieval.texts.small_files import parse_json, parse_toml, read_small_text

Pooling: TypeAlias = Literal["cls", "mean", "last", "eos", "max", "pooler", "declared"]

NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
ENDINGS: Final = (".toml", ".json")
MOST_BYTES: Final = 64_000
LONGEST: Final = 131_072
"""Tokens; no model takes more."""
IN_ITS_FILE: Final = "docs/mining.md has an example"


class WrongSpec(ValueError):
    """A file describes no encoder; the message names the file, the key and what is expected there."""


class Spec(BaseModel):
    """One encoder. `folder`, or `hf_id` and `revision`, say where its files lie, the rest what is done.

    `pooling`: `cls` the first token's state, `mean` of all, `last` the last token's, `eos` that of the end
    token, which is put there where the tokenizer does not, `max` of all, `pooler` the model's own trained
    layer, `declared` all steps that its files of sentence-transformers name, and their prompts where no
    prefix is given. Numbers of tokens count the prefix and what the tokenizer adds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str
    hf_id: str = Field(default="", max_length=200)
    folder: str = Field(default="", max_length=1000)
    revision: str = Field(default="", max_length=100)
    pooling: Pooling
    query_prefix: str | None = Field(default=None, max_length=2000)
    passage_prefix: str | None = Field(default=None, max_length=2000)
    query_max_tokens: int = Field(default=128, ge=4, le=LONGEST)
    passage_max_tokens: int = Field(default=512, ge=4, le=LONGEST)
    normalise: bool = True
    trust_remote_code: bool = False

    @field_validator("name")
    @classmethod
    def _writable(cls, name: str) -> str:
        if not NAME.fullmatch(name):
            raise ValueError("1 to 40 of a-z, 0-9, dot, hyphen and underscore, beginning with the first two")
        return name

    @field_validator("hf_id", "folder", "revision", "query_prefix", "passage_prefix")
    @classmethod
    def _storable(cls, text: str | None) -> str | None:
        if text and "\x00" in text:
            raise ValueError("has a NUL character, which no database keeps")
        return text

    @field_validator("normalise")
    @classmethod
    def _unit(cls, wanted: bool) -> bool:
        if not wanted:
            raise ValueError("scores are cosines here, in which lengths do not count: leave it out, or true")
        return wanted

    @field_validator("trust_remote_code")
    @classmethod
    def _ours(cls, wanted: bool) -> bool:
        if wanted:
            raise ValueError("code that comes with a model is never run here: leave it out, or false")
        return wanted

    @model_validator(mode="after")
    def _one_place(self) -> Spec:
        if bool(self.hf_id) == bool(self.folder):
            raise ValueError("name either hf_id (a model of the hub) or folder, one of the two")
        if self.folder and self.revision:
            raise ValueError("revision is that of a model of the hub; a folder is known by its content")
        return self

    @property
    def prefixes(self) -> Mapping[Kind, str | None]:
        """What texts begin with; None where the model's own files are to say it."""
        found: dict[Kind, str | None] = {"query": self.query_prefix, "snippet": self.passage_prefix}
        return found if self.pooling == "declared" else {kind: text or "" for kind, text in found.items()}

    @property
    def lengths(self) -> Mapping[Kind, int]:
        return {"query": self.query_max_tokens, "snippet": self.passage_max_tokens}

    @property
    def place(self) -> str:
        """Where its files lie, for people."""
        return self.folder or f"{self.hf_id}@{self.revision or 'main'}"

    @property
    def decides(self) -> dict[str, Any]:
        """What decides its vectors beside the weights: where a folder lies does not."""
        told = self.model_dump(exclude={"name", "folder", "trust_remote_code"})
        told |= {key: told[key] or "" for key in ("query_prefix", "passage_prefix")}
        return told | {"revision": self.revision or ("" if self.folder else "main")}

    def canonical(self) -> str:
        """What decides its vectors, always written the same way."""
        return json.dumps(self.decides, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def read_encoder_spec(path: Path) -> Spec:
    """The encoder that a file describes; called by the file unless it says a name. Raises `WrongSpec`.

    A folder is meant from where the file lies.
    """
    told = {"name": path.stem, **_loaded(path)}
    folder = told.get("folder")
    if isinstance(folder, str) and folder:
        told["folder"] = str((path.parent / Path(folder).expanduser()).resolve())
    return parse_encoder_spec(told, str(path))


def parse_encoder_spec(told: Mapping[str, Any], where: str) -> Spec:
    """A spec of plain values. Raises `WrongSpec`; `where` is what its message begins with."""
    try:
        return Spec.model_validate(dict(told))
    except ValidationError as why:
        raise WrongSpec(f"{where}: {'; '.join(_faults(why))} ({IN_ITS_FILE})") from why


def find_spec_files(folder: Path) -> dict[str, Path]:
    """By the name of the file, those of a folder that may describe an encoder."""
    if not folder.is_dir():
        return {}
    return {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in ENDINGS and path.is_file()}


def _loaded(path: Path) -> dict[str, Any]:
    if path.suffix not in ENDINGS:
        raise WrongSpec(f"{path}: an encoder is described in a file that ends with .toml or .json")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise WrongSpec(f"{path}: has more than {MOST_BYTES:,} bytes, which describes no encoder")
        text = read_small_text(path, MOST_BYTES)
        told = parse_toml(text) if path.suffix == ".toml" else parse_json(text)
    except OSError as why:
        raise WrongSpec(f"{path}: can't be read ({why.strerror})") from why
    except ValueError as why:  # of TOML, JSON and UTF-8 alike
        raise WrongSpec(f"{path}: is no {path.suffix[1:].upper()} ({str(why)[:200]})") from why
    if not isinstance(told, dict):
        raise WrongSpec(f"{path}: expected keys and values, such as pooling and hf_id ({IN_ITS_FILE})")
    return told


def _faults(why: ValidationError) -> Iterator[str]:
    """Each fault as key and what is wrong, in the words of the validators where they are ours."""
    for error in why.errors(include_url=False, include_context=False):
        key = ".".join(map(str, error["loc"]))[:80]
        said = (
            error["msg"]
            .removeprefix("Value error, ")
            .replace("Extra inputs are not permitted", "no such key")
        )
        yield f"{key}: {said}" if key else said
