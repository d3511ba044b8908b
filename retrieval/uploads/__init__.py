"""An uploaded import: its files are gathered, read by their format, and removed when it has ended."""

from retrieval.uploads.closing import close, note
from retrieval.uploads.downloading import gather
from retrieval.uploads.files import by_name, cancel, discard, forget_files
from retrieval.uploads.reading import perform

__all__ = ["by_name", "cancel", "close", "discard", "forget_files", "gather", "note", "perform"]
