"""What the pipeline needs of a language model; anything with these two names will do."""

from typing import Protocol

from annotation.llm.reply import Reply
from annotation.llm.request import Request


class LLM(Protocol):
    """A language model that answers one request at a time; safe to share between threads."""

    @property
    def name(self) -> str:
        """Which implementation answers: `live:PROFILE`, `recorded:NAME` or `exchange`."""
        ...

    def ask(self, request: Request) -> Reply:
        """The model's reply. Raises LLMError (NoReply, Waiting) where there is none to use."""
        ...
