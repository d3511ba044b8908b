"""Many requests that a provider answers later, in any order, at half the price: by Messages or by chats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from annotation.llm.batches.chat import ChatBatches
from annotation.llm.batches.messages import MessageBatches
from annotation.llm.batches.provider import (
    CHUNK,
    BatchResultEntry,
    BatchStatus,
    LiveBatches,
    chunk_batch_entries,
)
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import Wire

__all__ = ["CHUNK", "BatchResultEntry", "BatchStatus", "LiveBatches", "chunk_batch_entries", "open_batches"]

BY_PROTOCOL: Final[Mapping[Wire, type[LiveBatches]]] = {"messages": MessageBatches, "chat": ChatBatches}


def open_batches(llm: LiveLLM) -> LiveBatches:
    """The batches of a live provider, by the protocol of its profile."""
    return BY_PROTOCOL[llm.profile.protocol](llm)
