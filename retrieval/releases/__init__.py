"""A release folder → collections, labels and a benchmark, by the hundred thousand pairs."""

from retrieval.releases.importer import NoRelease, import_release
from retrieval.releases.manifest import Manifest, manifest_of

__all__ = ["Manifest", "NoRelease", "import_release", "manifest_of"]
