"""Extraction of documented functions from the standard library, against the bare parse of the same files."""

from __future__ import annotations

import time
from collections.abc import Mapping

import tree_sitter

from retrieval.sources import Problem
from retrieval.sources.code import extraction, places
from retrieval.sources.code.languages import LANGUAGES

LANGUAGE = "python"


def measure_extraction() -> Mapping[str, object]:
    """MB of source a second of one core, with rules and texts; files are read beforehand."""
    files = [file for file in places.iterate_source_files(places.STDLIB) if not isinstance(file, Problem)]
    megabytes = sum(len(file.content) for file in files) / 1e6
    began = time.process_time()
    found = [
        extraction.find_broken_rule(function)
        for file in files
        for function in extraction.functions_of(file, LANGUAGE)
    ]
    seconds = time.process_time() - began
    parser = tree_sitter.Parser(tree_sitter.Language(LANGUAGES[LANGUAGE].grammar()))
    began = time.process_time()
    for file in files:
        parser.parse(file.content)
    parsing = time.process_time() - began
    return {
        "megabytes": round(megabytes, 1),
        "functions": len(found),
        "documented": found.count(None),
        "mb_per_second": round(megabytes / seconds, 1),
        "ratios": {"of_bare_parsing": round(parsing / seconds, 3)},
    }
