"""What a language model answered and what it took."""

from dataclasses import dataclass
from typing import Final, TypeGuard

MOST_TOKENS: Final = 1_000_000_000
"""More than any call can take; a count above it is a provider's mistake, and no database column holds it."""


def is_count(value: object) -> TypeGuard[int]:
    """Whether `value` can be a number of tokens: providers also send negative, huge and textual ones."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS


HOPELESS: Final = frozenset({"refusal", "model_context_window_exceeded"})
"""Stop reasons after which asking again gives the same: no repair call is paid."""


CUT_OFF: Final = "max_tokens"
"""The stop reason of a reply that has used up its tokens."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Billed tokens. The whole input is `input_tokens + cache_read_tokens + cache_write_tokens`."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Every billed token, at whatever price."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply. `text` is unparsed, `model` is who answered, `latency` is in seconds.

    `pause`: seconds until the provider takes another request, where the reply's headers say that a limit is
    used up. `defect`: why it is no answer, whatever its text says (cut off, declined, empty); it was paid.
    `by_batch`: it was one of a batch, where a reply costs half.
    """

    text: str
    model: str
    usage: Usage
    latency: float
    request_id: str
    stop_reason: str
    pause: float = 0.0
    defect: str = ""
    by_batch: bool = False
