"""Text that a program wrote, made fit to be kept."""

_LONGEST_NAME = 200


def escape_unstorable_text(text: str) -> str:
    """Text that every database and encoding takes: lone surrogates escaped, NUL shown by its symbol."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "␀")


def shorten_identifier(text: str) -> str:
    """A name of a module, type, function or variable: a program may make them as long as it likes."""
    cleaned = escape_unstorable_text(text)
    return cleaned if len(cleaned) <= _LONGEST_NAME else f"{cleaned[: _LONGEST_NAME - 1]}…"
