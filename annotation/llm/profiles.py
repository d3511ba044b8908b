"""What each kind of provider of the Messages protocol can do, declared instead of probed."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Mode = Literal["json_schema", "forced_tool", "prompt"]


class UnknownProfile(Exception):
    """No provider profile has this name."""


@dataclass(frozen=True, slots=True)
class ProviderProfile:
    """One kind of provider.

    auth             how the key reaches the client; from anthropic 2.12 on both go out as a bearer token
    needs_key        whether a request without a key is pointless
    json_schema      structured output by `output_config.format`
    forced_tool      `tool_choice` naming one tool
    strict_tool      the tool may ask for strict schema validation
    prompt_caching   `cache_control` on the system prompt is understood and pays
    sampling         the names that a request's sampling may use
    thinking         leave thinking as the provider has it, or switch it off
    same_model       whether the reply's model name has to be the one that was asked for
    """

    name: str
    auth: Literal["api_key", "bearer"]
    needs_key: bool
    json_schema: bool
    forced_tool: bool
    strict_tool: bool
    prompt_caching: bool
    sampling: tuple[str, ...]
    thinking: Literal["as_is", "disabled"]
    same_model: bool

    @property
    def ladder(self) -> tuple[Mode, ...]:
        """The ways to get structured output, best first; asking for it in words always remains."""
        offered: list[tuple[Mode, bool]] = [
            ("json_schema", self.json_schema),
            ("forced_tool", self.forced_tool),
            ("prompt", True),
        ]
        return tuple(mode for mode, supported in offered if supported)


ANTHROPIC: Final = ProviderProfile(
    name="anthropic",
    auth="api_key",
    needs_key=True,
    json_schema=True,
    forced_tool=True,
    strict_tool=True,
    prompt_caching=True,
    sampling=("effort",),  # newer models answer 400 to a temperature
    thinking="as_is",  # some models refuse to have it switched off
    same_model=True,
)
DEEPSEEK: Final = ProviderProfile(
    name="deepseek",
    auth="bearer",
    needs_key=True,
    json_schema=False,
    forced_tool=True,
    strict_tool=False,
    prompt_caching=False,  # it caches by itself and ignores cache_control
    sampling=("temperature", "top_p"),
    thinking="disabled",  # a forced tool is refused while thinking is on
    same_model=True,  # unknown claude-* names are served by another model without a word
)
GENERIC: Final = ProviderProfile(
    name="generic",
    auth="bearer",
    needs_key=False,
    json_schema=False,
    forced_tool=False,
    strict_tool=False,
    prompt_caching=False,
    sampling=("temperature", "top_p", "top_k", "min_p", "seed"),
    thinking="as_is",
    same_model=False,  # local servers answer with a file name or an alias
)
PROFILES: Final[Mapping[str, ProviderProfile]] = MappingProxyType(
    {known.name: known for known in (ANTHROPIC, DEEPSEEK, GENERIC)}
)


def profile(name: str) -> ProviderProfile:
    """The profile of that name. Raises UnknownProfile, listing the names."""
    try:
        return PROFILES[name]
    except KeyError:
        raise UnknownProfile(f"no provider profile '{name}'; choose one of: {', '.join(PROFILES)}") from None
