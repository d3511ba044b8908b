"""What can be searched: texts, collections, minings, annotators and labels."""

from retrieval.models.blobs import Blob
from retrieval.models.collections import Collection, ImportJob, Member
from retrieval.models.labels import Annotator, Label
from retrieval.models.minings import Candidate, Mining
from retrieval.models.texts import Pair, QueryText, Text, TextBody

__all__ = [
    "Annotator",
    "Blob",
    "Candidate",
    "Collection",
    "ImportJob",
    "Label",
    "Member",
    "Mining",
    "Pair",
    "QueryText",
    "Text",
    "TextBody",
]
