"""An uploaded import: read by its format, closed with its counts, its files removed when it has ended."""

from retrieval.uploads.closing import close, note
from retrieval.uploads.files import by_name, discard, forget_files
from retrieval.uploads.reading import perform

__all__ = ["by_name", "close", "discard", "forget_files", "note", "perform"]
