"""What systems are known to have been trained on; everything else is not known, never nothing."""

from __future__ import annotations

import pytest

from retrieval.encoders.registry import KNOWN
from retrieval.evaluation.systems.published_systems import (
    OTHERS,
    families_of,
    find_known_parts,
    sees_tasks,
    shared_with,
    trained_on,
)


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("bm25", "nothing: it counts words"),
        ("codebert:/models/mine", "CodeSearchNet, six languages"),
        ("all-mpnet-base-v2", "a billion pairs"),
        ("sentence-transformers/all-MiniLM-L6-v2", "a billion pairs"),
        ("bm25+minilm", "nothing: it counts words; a billion pairs"),
        ("bm25+codebert:/models/a+b", "nothing: it counts words; CodeSearchNet, six languages"),
        ("jina-embeddings-v3", "not known"),
        ("jina-code-embeddings-0.5b", "CoSQA+"),
        ("mine", "not known"),
    ],
)
def test_systems_go_by_the_beginning_of_their_names(system: str, words: str) -> None:
    assert trained_on(system).startswith(words)


@pytest.mark.parametrize("name", KNOWN)
def test_encoders_of_the_registry_are_told_as_it_tells_them(name: str) -> None:
    on_the_hub = () if KNOWN[name].folder_only else (KNOWN[name].hub_id,)
    for called in (name, *on_the_hub, f"{name}:/models/mine"):
        (told,) = find_known_parts(called)
        assert (told.trained_on, told.sees_tasks, told.family) == (
            KNOWN[name].trained_on,
            KNOWN[name].sees_tasks,
            KNOWN[name].family,
        )


def test_no_encoder_of_the_registry_is_told_of_twice() -> None:
    assert not OTHERS.keys() & KNOWN.keys()


def test_a_system_that_saw_the_fields_data_is_told() -> None:
    assert sees_tasks("bm25+jina-code-embeddings-0.5b") and sees_tasks("nightowl")
    assert not sees_tasks("bm25") and not sees_tasks("mine")


def test_a_system_of_the_annotators_family_is_told() -> None:
    assert families_of("openai/gpt-4o") == {"OpenAI"}
    assert families_of("us.anthropic.claude-x") == {"Anthropic"}
    assert families_of("DeepSeek-R1-Distill-Qwen-7B") == {"DeepSeek", "Qwen"}
    assert "OpenAI" in shared_with("text-embedding-3-large", ["gpt-4o", "claude-x"])
    assert shared_with("text-embedding-3-large", ["deepseek-chat"]) == "no"
    assert shared_with("codebert", ["deepseek-chat", "gpt-4o"]) == "no"
    assert shared_with("codebert", ["unheard-of"]) == ""
    assert shared_with("codebert", [""]) == ""
    assert shared_with("mine", ["deepseek-chat"]) == ""
    assert shared_with("mine", []) == "no"  # people labelled
    assert shared_with("bm25+bow", ["gpt-4o"]) == "nothing"


@pytest.mark.parametrize(
    "system",
    [
        "bge-code",
        "f2llm-0.6b",
        "jina-code",
        "bm25+jina-code",
        "qwen3-embedding:/models/mine",
        "minilm:/models/my-qwen",
        "endpoint:qwen3-embedding:0.6b",
        "endpoint:Qwen/Qwen3-Embedding-8B",
        "bm25+endpoint:Qwen/Qwen3-Embedding-8B",
        "endpoint:gte-qwen2-7b-instruct",
        "my-qwen-search",
    ],
)
def test_what_was_made_of_qwen_is_of_its_family(system: str) -> None:
    for model in ("qwen2.5-coder:32b", "deepseek-r1-distill-qwen-7b"):
        assert shared_with(system, [model]) == "of the family of the annotator’s model (Qwen)"


@pytest.mark.parametrize(
    "system",
    [
        "minilm:/models/mine",
        "bm25+minilm:/models/mine",
        "codebert:anybody/codebert-again@main",
        "endpoint:my-embeddings",
        "endpoint:gte-qwen2-7b-instruct",
        "bm25+granite-r2",
        "codet5p",
        "voyage-code-3",
        "e5:intfloat/e5-mistral-7b-instruct",
    ],
)
def test_what_it_was_made_of_is_not_known_and_so_not_denied(system: str) -> None:
    assert shared_with(system, ["gpt-4o"]) == ""


@pytest.mark.parametrize(
    "system",
    ["minilm", "bm25+minilm", "bge-code", "endpoint:text-embedding-004", "e5:intfloat/e5-base-v2@main"],
)
def test_of_two_known_families_that_differ_it_is_denied(system: str) -> None:
    assert shared_with(system, ["claude-x"]) == "no"
