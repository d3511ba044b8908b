"""What stored texts of a kind have in common. The files can't be changed any more: what was stored with one
can be read with it alone."""

from importlib import resources


def load_common_text(kind: str) -> bytes:
    """The file `KIND.txt` of this folder."""
    return resources.files(__name__).joinpath(f"{kind}.txt").read_bytes()
