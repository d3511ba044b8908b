"""Counts tokens on this machine, by the `tokenizer.json` of a model (Hugging Face's format).

Nothing is loaded here: a child process reads the file and counts, within bounds of memory and time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from annotation.llm import token_child

FILE: Final = "tokenizer.json"
WITHIN: Final = 30.0
"""Seconds of a person's patience: a few prompts take one."""
MOST_A_TOKEN: Final = 10.0
"""Characters. What makes longer tokens of code and English has left most of the text out."""


ENVIRONMENT: Final = {"TOKENIZERS_PARALLELISM": "false"}
"""Nothing of ours: no key is any business of a file's."""


class CannotCount(Exception):
    """There is no count; the message says why, for whoever set the tokenizer."""


def file_of(place: str, model: str) -> Path:
    """The tokenizer of `model`: `place` itself, or MODEL/tokenizer.json in it where it is a folder.

    Raises CannotCount where the model's name would lead out of the folder.
    """
    path = Path(place)
    if not path.is_dir():
        return path
    parts = PurePosixPath(model).parts
    if not parts or {"/", "..", "//"} & set(parts) or "\0" in model:
        raise CannotCount(f"the model's name {model[:80]!r} is no name of a folder")
    return path.joinpath(*parts, FILE)


def format_tokenizer_name(path: Path) -> str:
    """What people read of it: its file, with the folder that tells it from others."""
    shown = "".join(letter if letter.isprintable() else "�" for letter in "/".join(path.parts[-2:]))
    return shown.lstrip("/")[-80:]


def count_tokens_locally(path: Path, texts: Sequence[str]) -> list[int]:
    """Tokens of each text. Raises CannotCount where the file or the library gives no credible count."""
    unique = list(dict.fromkeys(texts))
    found = dict(zip(unique, counts_of(path, unique), strict=True))
    characters, tokens = sum(map(len, unique)), sum(found.values())
    if characters > MOST_A_TOKEN * tokens:
        raise CannotCount(f"it makes {tokens:,} tokens of {characters:,} characters, too few to be believed")
    return [found[text] for text in texts]


def counts_of(path: Path, texts: Sequence[str]) -> list[int]:
    """What the child process says. Raises CannotCount."""
    words = [sys.executable, "-I", token_child.__file__, str(path)]
    try:
        ended = subprocess.run(
            words,
            check=False,
            input=json.dumps(texts).encode(),
            capture_output=True,
            timeout=WITHIN,
            env=ENVIRONMENT,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise CannotCount(f"it gave no count within {WITHIN:.0f} seconds") from error
    if ended.returncode:
        limits = f"{token_child.CPU_SECONDS} seconds or {token_child.MEMORY_BYTES // 1024**3} GB"
        raise CannotCount(f"reading it failed, or took more than {limits}")
    answer = json.loads(ended.stdout)
    if "error" in answer:
        raise CannotCount(answer["error"])
    return list(answer["counts"])
