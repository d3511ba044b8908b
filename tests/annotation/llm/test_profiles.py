"""Profiles are data: each file is read, and a wrong one says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.llm.profiles import PROFILES, UnknownProfile, load_provider_profile

TESTED = {"anthropic", "deepseek", "generic", "generic-openai"}
LOCAL = {"vllm", "ollama", "llama-cpp", "litellm", "openrouter"}
UNTESTED = {"openai", "deepseek-openai"} | LOCAL | {f"{name}-openai" for name in LOCAL}


def test_what_was_never_tried_against_a_server_says_so() -> None:
    assert {name for name, known in PROFILES.items() if known.tested} == TESTED
    assert {name for name, known in PROFILES.items() if not known.tested} == UNTESTED


def test_every_profile_can_be_asked_in_words() -> None:
    assert all(known.ladder[-1] == "prompt" for known in PROFILES.values())


def test_a_file_of_ones_own_is_read(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    shipped = Path(__file__).parents[3] / "annotation" / "llm" / "providers" / "vllm.toml"
    own.write_text(shipped.read_text())
    assert load_provider_profile(str(own)).ladder == PROFILES["vllm"].ladder
    assert load_provider_profile(str(own)).name == "own"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("auth = ", "Invalid value"),
        ("auth = 'bearer'", "Field required"),
        ("thinking = 'sometimes'", "as_is"),
        ("colour = 'red'", "colour"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(text: str, told: str, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(text)
    with pytest.raises(UnknownProfile, match=told):
        load_provider_profile(str(own))


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownProfile, match=r"anthropic, deepseek, .* or a \.toml file"):
        load_provider_profile("gpt")
    with pytest.raises(UnknownProfile, match="can't be read"):
        load_provider_profile("/nowhere/own.toml")
