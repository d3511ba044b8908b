"""What can be searched and how well: texts, collections, minings, labels, benchmarks and runs."""

from retrieval.models.benchmarks import Benchmark, BenchmarkLabel, Pool, Published, RankedList, Run, Score
from retrieval.models.blobs import Blob
from retrieval.models.collections import Collection, Member
from retrieval.models.encoder_specs import EncoderSpec
from retrieval.models.exports import ExportJob
from retrieval.models.figures import KeptFigures, Pin
from retrieval.models.filter_jobs import FilterJob
from retrieval.models.holes import Holes
from retrieval.models.import_jobs import ImportJob
from retrieval.models.labels import Annotator, Basis, Label, Source, source_of
from retrieval.models.minings import Candidate, Mining, MiningPart, MiningShared
from retrieval.models.pair_lists import PairList
from retrieval.models.reproductions import ReproduceJob
from retrieval.models.run_jobs import RunJob
from retrieval.models.score_jobs import ScoreJob
from retrieval.models.texts import Pair, QueryText, Text, TextBody

__all__ = [
    "Annotator",
    "Basis",
    "Benchmark",
    "BenchmarkLabel",
    "Blob",
    "Candidate",
    "Collection",
    "EncoderSpec",
    "ExportJob",
    "FilterJob",
    "Holes",
    "ImportJob",
    "KeptFigures",
    "Label",
    "Member",
    "Mining",
    "MiningPart",
    "MiningShared",
    "Pair",
    "PairList",
    "Pin",
    "Pool",
    "Published",
    "QueryText",
    "RankedList",
    "ReproduceJob",
    "Run",
    "RunJob",
    "Score",
    "ScoreJob",
    "Source",
    "Text",
    "TextBody",
    "source_of",
]
