"""What can be searched and how well: texts, collections, minings, labels, benchmarks and runs."""

from retrieval.models.benchmarks import Benchmark, BenchmarkLabel, Pool, Published, RankedList, Run, Score
from retrieval.models.blobs import Blob
from retrieval.models.collections import Collection, ImportJob, Member
from retrieval.models.exports import ExportJob
from retrieval.models.figures import KeptFigures, Pin
from retrieval.models.holes import Holes
from retrieval.models.labels import Annotator, Label, Source, source_of
from retrieval.models.minings import Candidate, Mining, MiningPart
from retrieval.models.texts import Pair, QueryText, Text, TextBody

__all__ = [
    "Annotator",
    "Benchmark",
    "BenchmarkLabel",
    "Blob",
    "Candidate",
    "Collection",
    "ExportJob",
    "Holes",
    "ImportJob",
    "KeptFigures",
    "Label",
    "Member",
    "Mining",
    "MiningPart",
    "Pair",
    "Pin",
    "Pool",
    "Published",
    "QueryText",
    "RankedList",
    "Run",
    "Score",
    "Source",
    "Text",
    "TextBody",
    "source_of",
]
