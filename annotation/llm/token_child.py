"""`python token_child.py TOKENIZER_JSON`: counts the tokens of texts, in a process of its own.

Reads a JSON list of texts from standard input and writes {"counts": [...]} or {"error": "..."}. This is the
only door to `tokenizers`. A file from elsewhere may hold anything, such as a pattern that never ends or a
vocabulary that takes all memory: it takes this process down, and no server.
"""

from __future__ import annotations

import json
import os
import resource
import stat
import sys
from collections.abc import Sequence
from typing import Any, Final

MEGABYTE: Final = 1024 * 1024
MOST_BYTES: Final = 64 * MEGABYTE
"""Twice the largest vocabularies that are in use."""
MEMORY_BYTES: Final = 2048 * MEGABYTE
CPU_SECONDS: Final = 15
LONGEST_TOLD: Final = 200


class Unusable(Exception):
    """The file can't be used; the message says why."""


def main(path: str) -> None:
    limit_process_resources()
    try:
        answer: dict[str, Any] = {"counts": count_tokens_in_child(path, json.load(sys.stdin))}
    except Unusable as why:
        answer = {"error": str(why)}
    json.dump(answer, sys.stdout)


def limit_process_resources() -> None:
    """As much memory and time as a large vocabulary takes, and not a byte written to a file."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def count_tokens_in_child(path: str, texts: Sequence[str]) -> list[int]:
    """Tokens of each text, without those that a template adds. Raises Unusable."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise Unusable("the library tokenizers is not installed: pip install tokenizers") from error
    whole = read_tokenizer_file(path)
    try:
        tokenizer = Tokenizer.from_str(whole)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return [len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts]
    except Exception as error:  # the library raises bare Exceptions
        raise Unusable(f"it is no tokenizer.json that can be used: {str(error)[:LONGEST_TOLD]}") from error


def read_tokenizer_file(path: str) -> str:
    """The file, which is a plain one and not too large. Raises Unusable."""
    try:
        # Without O_NONBLOCK a named pipe would be waited for.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Unusable("it is no plain file")
            whole = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unusable(f"it can't be read: {error.strerror}") from error
    if len(whole) > MOST_BYTES:
        raise Unusable(f"it has more than {MOST_BYTES // MEGABYTE} MB")
    try:
        return whole.decode()
    except UnicodeDecodeError as error:
        raise Unusable("it is no UTF-8 text") from error


if __name__ == "__main__":
    main(sys.argv[1])
