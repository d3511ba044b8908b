"""Byte-pair vocabularies out of the texts of a training."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from retrieval.encoders.baselines.baseline_files import split_words
from retrieval.encoders.baselines.baseline_networks import PADDING, UNKNOWN


def train_vocabulary(texts: Iterable[str], size: int) -> Tokenizer:
    """A vocabulary of at most `size` pieces of words, the same for the same texts.

    Padding has the id 0, an unknown word 1. A mark stands before each word: a suffix behind it would be
    numbered in an order that changes.
    """
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[PADDING, UNKNOWN],
        min_frequency=2,
        show_progress=False,
    )
    tokenizer.train_from_iterator((" ".join(split_words(text)) for text in texts), trainer)
    return tokenizer
