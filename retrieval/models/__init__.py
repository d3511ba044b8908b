"""What can be searched and how well: texts, collections, minings, labels, benchmarks and runs."""

from retrieval.models.benchmarks import (
    Benchmark,
    BenchmarkIdLabel,
    BenchmarkLabel,
    Pool,
    Published,
    RankedList,
    Run,
    Score,
)
from retrieval.models.blobs import Blob
from retrieval.models.collections import Alias, Collection, Member
from retrieval.models.distractors import Distractor
from retrieval.models.encoder_specs import EncoderSpec
from retrieval.models.figures import KeptFigures, Pin
from retrieval.models.holes import Holes, filled_holes_of
from retrieval.models.jobs import Job
from retrieval.models.labels import Annotator, Basis, Label, LabelIds, Source, label_source_of
from retrieval.models.minings import Candidate, Mining, MiningPart, MiningShared
from retrieval.models.pair_lists import PairList
from retrieval.models.texts import Pair, QueryText, Text, TextBody
