"""A release folder → collections, labels and a benchmark, by the hundred thousand pairs."""

from retrieval.releases.importing import Manifest, NoRelease, import_release, manifest_of

__all__ = ["Manifest", "NoRelease", "import_release", "manifest_of"]
