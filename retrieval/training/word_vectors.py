"""Vectors of words by the words around them, as NCS and UNIF start: fastText's skip-gram, in torch.

A word's pieces are byte pairs, where fastText has character n-grams: each piece has a vector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor, nn

WINDOW: Final = 5
NEGATIVES: Final = 5
PAIRS_A_STEP: Final = 4096
POWER: Final = 0.75
"""Non-neighbours are drawn by their frequency to this power (Mikolov et al. 2013)."""


def train_word_vectors(
    texts: Sequence[Sequence[int]], vocabulary: int, dimension: int, epochs: int, learning_rate: float
) -> tuple[Tensor, list[float]]:
    """Vectors of shape (vocabulary, dimension) on the processor, and the mean loss of each epoch.

    Weights, windows and non-neighbours are drawn by torch's seed. Words that have no neighbour anywhere keep
    their random vectors.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    words = torch.tensor([word for text in texts for word in text], dtype=torch.long)
    owner = torch.tensor([place for place, text in enumerate(texts) for _ in text], dtype=torch.long)
    frequency = torch.bincount(words, minlength=vocabulary).to(torch.float) ** POWER
    own, around = (nn.Embedding(vocabulary, dimension) for _ in range(2))
    nn.init.uniform_(own.weight, -0.5 / dimension, 0.5 / dimension)
    nn.init.zeros_(around.weight)
    own, around = own.to(device), around.to(device)
    optimiser = torch.optim.Adam([own.weight, around.weight], lr=learning_rate)
    losses = list[float]()
    for _ in range(epochs):
        total, steps = 0.0, 0
        for centre, neighbour in draw_neighbours(words, owner):
            negatives = torch.multinomial(frequency, len(centre) * NEGATIVES, replacement=True)
            loss = skip_gram_loss(
                own(centre.to(device)),
                around(neighbour.to(device)),
                around(negatives.view(len(centre), NEGATIVES).to(device)),
            )
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            total, steps = total + float(loss.detach()), steps + 1
        losses.append(total / steps if steps else 0.0)
    return own.weight.detach().cpu(), losses


def draw_neighbours(words: Tensor, owner: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Each place with one of the places around it in its text, in batches of a drawn order."""
    count = len(words)
    if not count:
        return []
    distance = torch.randint(1, WINDOW + 1, (count,)) * (2 * torch.randint(0, 2, (count,)) - 1)
    other = torch.arange(count) + distance
    inside = (other >= 0) & (other < count)
    inside &= owner[other.clamp(0, count - 1)] == owner
    places = torch.nonzero(inside).squeeze(1)
    places = places[torch.randperm(len(places))]
    return [(words[part], words[other[part]]) for part in torch.split(places, PAIRS_A_STEP) if len(part)]


def skip_gram_loss(centre: Tensor, neighbour: Tensor, negatives: Tensor) -> Tensor:
    """Mean of -log sigmoid(centre . neighbour) - sum of log sigmoid(-centre . negative)."""
    close = nn.functional.logsigmoid((centre * neighbour).sum(dim=1))
    far = nn.functional.logsigmoid(-(negatives @ centre.unsqueeze(2)).squeeze(2)).sum(dim=1)
    return -(close + far).mean()


def inverse_document_frequencies(texts: Sequence[Sequence[int]], vocabulary: int) -> Tensor:
    """log((1 + texts) / texts with the word), shape (vocabulary,), above 0; a word in none counts as in one.

    The 1 is ours: without it a text of words that all texts have would have no vector.
    """
    found = torch.zeros(vocabulary)
    for text in texts:
        found[torch.tensor(sorted(set(text)), dtype=torch.long)] += 1
    return math.log(1 + len(texts)) - found.clamp(min=1).log()
