"""What each kind of provider can do, declared in files, one for each kind and protocol.

The files are in `providers/`; `probe.py` writes one for a server that none of them describes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from pydantic import ConfigDict, TypeAdapter

from retrieval.texts.small_files import parse_toml

Mode = Literal["json_schema", "forced_tool", "json_object", "prompt"]
Wire = Literal["messages", "chat"]
KeyVariable = Literal["", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY"]


class UnknownProfile(Exception):
    """No provider profile has this name, or the file that was named describes none."""


@dataclass(frozen=True, slots=True)
class ProviderProfile:
    """One kind of provider.

    about            the provider and its address
    tested           whether it was tried against a server; else the file says what its documentation says
    auth             how the key reaches the client; from anthropic 2.12 on both go out as a bearer token
    needs_key        whether a request without a key is pointless
    json_schema      structured output by `output_config.format`
    forced_tool      `tool_choice` naming one tool
    strict_tool      the tool may ask for strict schema validation
    prompt_caching   `cache_control` on the system prompt is understood and pays
    sampling         the names that a request's sampling may use
    thinking         leave thinking as the provider has it, or switch it off
    same_model       whether the reply's model name has to be the one that was asked for
    token_counting   it counts a request's tokens without answering it (`/v1/messages/count_tokens`)
    batches          it answers many requests later, at half the price (`/v1/messages/batches`, or
                     `/v1/batches` of chat completions)
    tokenizer        the `tokenizer.json` of its model, or a folder with MODEL/tokenizer.json for each, which
                     counts tokens where the provider doesn't; relative to the profile's own file
    protocol         Anthropic's Messages, or OpenAI's chat completions
    address          where it is unless COSQA_LLM_BASE_URL says otherwise, without `/v1`
    key              the variable that its key is read from beside COSQA_LLM_API_KEY
    json_object      chat alone: any JSON object by `response_format`; the prompt describes the schema
    length_name      chat alone: what the server calls the most tokens of a reply
    extra            chat alone: sent with each request as it is
    """

    name: str
    about: str
    tested: bool
    auth: Literal["api_key", "bearer"]
    needs_key: bool
    json_schema: bool
    forced_tool: bool
    strict_tool: bool
    prompt_caching: bool
    sampling: tuple[str, ...]
    thinking: Literal["as_is", "disabled"]
    same_model: bool
    token_counting: bool = False
    batches: bool = False
    tokenizer: str = ""
    protocol: Wire = "messages"
    address: str = ""
    key: KeyVariable = ""
    json_object: bool = False
    length_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    extra: Mapping[str, object] = field(default_factory=dict)

    __pydantic_config__ = ConfigDict(extra="forbid")

    @property
    def ladder(self) -> tuple[Mode, ...]:
        """The ways to get structured output, best first; asking for it in words always remains."""
        offered: list[tuple[Mode, bool]] = [
            ("json_schema", self.json_schema),
            ("forced_tool", self.forced_tool),
            ("json_object", self.json_object),
            ("prompt", True),
        ]
        return tuple(mode for mode, supported in offered if supported)


def parse_provider_profile(text: str, name: str) -> ProviderProfile:
    """The profile in a TOML text. Raises UnknownProfile, saying what is wrong with it."""
    try:
        data = parse_toml(text)
        return TypeAdapter(ProviderProfile).validate_python({**data, "name": name})
    except ValueError as error:
        raise UnknownProfile(f"'{name}' is no provider profile: {error}") from error


def _shipped() -> Mapping[str, ProviderProfile]:
    found = sorted(
        files("annotation.llm").joinpath("providers").iterdir(),
        key=lambda file: file.name.removesuffix(".toml"),
    )
    named = {
        file.name.removesuffix(".toml"): file.read_text() for file in found if file.name.endswith(".toml")
    }
    return MappingProxyType({name: parse_provider_profile(text, name) for name, text in named.items()})


PROFILES: Final = _shipped()
ANTHROPIC: Final = PROFILES["anthropic"]
DEEPSEEK: Final = PROFILES["deepseek"]
GENERIC: Final = PROFILES["generic"]
GENERIC_CHAT: Final = PROFILES["generic-openai"]


def load_provider_profile(name: str) -> ProviderProfile:
    """The profile of that name, or in that `.toml` file. Raises UnknownProfile, listing the names."""
    if name.endswith(".toml"):
        try:
            found = parse_provider_profile(Path(name).read_text(), Path(name).stem)
            return replace(found, tokenizer=found.tokenizer and str(Path(name).parent / found.tokenizer))
        except (OSError, UnicodeDecodeError) as error:
            raise UnknownProfile(f"the provider profile {name} can't be read: {error}") from error
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(PROFILES)
        raise UnknownProfile(
            f"no provider profile '{name}'; choose one of: {known}, or a .toml file"
        ) from None
