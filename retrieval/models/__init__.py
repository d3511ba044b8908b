"""What can be searched and how well: texts, collections, minings, labels, benchmarks and runs."""

from retrieval.models.benchmarks import Benchmark, BenchmarkLabel, Pool, Published, RankedList, Run, Score
from retrieval.models.blobs import Blob
from retrieval.models.collections import Collection, ImportJob, Member
from retrieval.models.labels import Annotator, Label
from retrieval.models.minings import Candidate, Mining, MiningPart
from retrieval.models.texts import Pair, QueryText, Text, TextBody

__all__ = [
    "Annotator",
    "Benchmark",
    "BenchmarkLabel",
    "Blob",
    "Candidate",
    "Collection",
    "ImportJob",
    "Label",
    "Member",
    "Mining",
    "MiningPart",
    "Pair",
    "Pool",
    "Published",
    "QueryText",
    "RankedList",
    "Run",
    "Score",
    "Text",
    "TextBody",
]
