"""An uploaded import: its files are gathered, read by their format, and removed when it has ended."""

from retrieval.uploads.files import by_name, cancel_import_job, discard_upload, forget_files
from retrieval.uploads.import_order import Format, ImportOrder

__all__ = ["Format", "ImportOrder", "by_name", "cancel_import_job", "discard_upload", "forget_files"]
