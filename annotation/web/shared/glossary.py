"""The words of the pages, each explained once. `docs/glossary.md` is written from here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class Term:
    """A word and what it means, in one or two sentences."""

    word: str
    meaning: str


NOUNS: Final = (
    Term("query", "What people type to find code, such as “python remove empty strings from list”."),
    Term("function", "Code that may answer a query. Each query has several, best first: rank 1 is the best."),
    Term("pair", "One query with one function. A pair is what gets a label."),
    Term("label", "What is decided about a pair: match (1) or no match (0)."),
    Term("verdict", "What the agents decided about a pair, with their reason."),
    Term("test", "A program that calls the function and checks what comes back."),
    Term("run", "One execution of a test, with its result, its assertions and its trace."),
    Term("study", "Several raters label the same pairs, each alone, to measure agreement and accuracy."),
)
"""The eight nouns: with these alone a pair can be reviewed or rated."""
MORE: Final = (
    Term("abandoned", "The agents could not judge the pair. It has no label, and that is never “no match”."),
    Term("agent", "A language model with one task, such as the screener, the test writer or the arbiter."),
    Term("alpha", "Krippendorff’s alpha: agreement beyond chance. 1 is full agreement, 0 is chance."),
    Term("amendment", "A change to the plan of a study that has started, kept with its reason."),
    Term("annotator", "Who gives labels: a set of agents, one model, a person, or the original data."),
    Term("arbiter", "The agent that gives the verdict on unclear pairs, after the test has run."),
    Term("assertion", "One line of a test that must hold, such as “assert f(2) == 4”."),
    Term("assisted", "A label from a person who saw the agents’ verdict. It never counts as agreement."),
    Term(
        "audit",
        "A check of labels that exist: agents judge the same pairs, and experts look at what differs.",
    ),
    Term("batch", "Many requests sent to a model together: they cost less and take up to a day."),
    Term("benchmark", "Queries, functions and labels that are published. A version never changes."),
    Term("blind", "Without seeing the agents’ verdict or other people’s labels."),
    Term("build", "One job of the agents: it finds functions for many queries and judges the pairs."),
    Term("canary", "The first few pairs of a large build. The others wait until a person has seen these."),
    Term("case", "One pair in one round of a build, on its way to a label."),
    Term("checkpoint", "What a training has learned so far, kept on the disk so that it can continue."),
    Term(
        "code similarity",
        "How much two pieces of code have in common: names, structure and the use of variables. From 0 to 1.",
    ),
    Term("collection", "A named list of queries or of functions, in versions."),
    Term("condition", "What raters of a study see: the code alone, their own tests, or the agents’ verdict."),
    Term("corpus", "All functions in which a system searches."),
    Term("delivery", "One message to a webhook. It is sent again until it arrives, at most eight times."),
    Term("disputed", "Two agents gave different verdicts, and a third decided."),
    Term("distractor", "A match with a planted bug that its test notices, so that it is no match."),
    Term("docstring", "The text at the beginning of a function that says what it does."),
    Term("drift", "A model answers the same requests differently than it did before."),
    Term("encoder", "A model that turns a text into numbers, so that similar texts can be found."),
    Term("epoch", "One pass of a training over all pairs that it learns."),
    Term("event", "Something that a webhook tells, such as “build done”."),
    Term("extension", "More functions for the queries of a build, by another search."),
    Term("flip", "Two results have different labels for the same pair."),
    Term("fusion", "How the rankings of several encoders become one."),
    Term("guidelines", "The written rules for labels, with worked examples."),
    Term("hard negative", "A judged non-match that a training shows with the match of the same query."),
    Term("holm", "A correction for many comparisons, so that chance is not taken for a difference."),
    Term("interval", "The range that holds the true figure, with a confidence of 95 %."),
    Term("k", "How many functions are taken for each query."),
    Term("label in force", "The label that is shown and published: the agents’, or an override that counts."),
    Term("learning rate", "How far each step of a training changes the weights."),
    Term("loss", "What a training makes small: how far the system is from the right order."),
    Term("merge rule", "How the labels of raters, experts and agents become one published label."),
    Term("metric", "A figure for how well a system ranks the functions of its queries, such as MRR."),
    Term("mining", "The search that picks the best functions for each query."),
    Term("mixed precision", "Numbers with fewer digits where that is safe: faster on a GPU."),
    Term("neighbour", "A wrong function that looks right. A good test fails on it."),
    Term("open", "The pair has no label yet: it waits, or the agents are at work on it."),
    Term("override", "An expert’s label that differs from the agents’ verdict."),
    Term("p", "How often chance alone would make such a difference."),
    Term("pairwise", "A study in which raters compare two functions of one query."),
    Term("patience", "After how many epochs without a better one a training ends."),
    Term("pilot", "A small part of a study that is rated first, to try the guidelines."),
    Term("pin", "Figures kept with all that they rest on, so that anybody can compute them again."),
    Term("plan", "What a study will ask, of whom and why. It is fixed when the study starts."),
    Term("planted", "Put in on purpose: a pair whose label is known, or a bug that a test should notice."),
    Term("precedent", "An earlier decision on a hard pair, kept as an example."),
    Term("prompt", "The instructions that an agent gets with each pair."),
    Term("qrels", "Labels in the file format of TREC, a series of search competitions."),
    Term("rank", "The place of a function in the list of its query: 1 is the best."),
    Term("rater", "A person who labels pairs of a study, alone."),
    Term("reader", "The agent that judges an unclear pair by its code alone, before a test is run."),
    Term("reading", "One of several meanings of an unclear query. A test checks one reading."),
    Term("recipe", "The settings with which the authors of a system trained it."),
    Term("reference", "The labels that others are compared with."),
    Term("reranker", "A model that reads the query with each of the first results and orders these again."),
    Term("round", "One of several times that the agents judge the same pair, each time from the start."),
    Term("sandbox", "The closed place in which tests run. They can’t reach the machine or the network."),
    Term("score", "A number for how well a function fits a query, or a system its benchmark."),
    Term("screener", "The first agent: it reads a pair and says match, no match or unclear."),
    Term(
        "sealed", "Kept for a final measurement: each time that a build is scored on such a study is counted."
    ),
    Term("seed", "A number that fixes a random draw, so that it can be repeated."),
    Term("settled", "The agents have decided: the pair has their label."),
    Term("split", "Raters of a pair disagree and none of the labels has a majority."),
    Term("spot check", "A few clear pairs that get a test all the same, to check the screener."),
    Term("stratum", "A group of pairs from which a part of a sample is drawn."),
    Term("strength", "How many small bugs a test notices when they are planted in the function."),
    Term("system", "A search program whose results are measured."),
    Term("tag", "A short remark on a pair or its test, such as “wrong edge case”."),
    Term("test writer", "The agent that writes the test for an unclear pair."),
    Term("tie breaker", "The agent that decides when two others differ."),
    Term("token", "A piece of a word, the unit in which models are paid."),
    Term("trace", "The lines of the function in the order they ran, with the values of its variables."),
    Term("training", "Teaching a system the matches of a benchmark."),
    Term("unjudged", "Without a label. It is never counted as “no match”."),
    Term("unsure", "An expert looked at the pair and gave no label."),
    Term("upheld", "The other side gave the same label."),
    Term("webhook", "An address of another program, which hears when a build is done or needs a person."),
    Term("weights", "The numbers that a model has learned."),
    Term("worker", "A process that does what waits: it asks models, runs tests and searches."),
)
"""The other words, in the order of the alphabet."""
MEANINGS: Final = MappingProxyType({term.word: term.meaning for term in (*NOUNS, *MORE)})


def write_markdown() -> Iterator[str]:
    """The lines of `docs/glossary.md`."""
    yield "# Glossary"
    yield ""
    yield "The words of the pages. The page *Glossary* shows the same list."
    for title, terms in (("The eight nouns", NOUNS), ("More words", MORE)):
        yield ""
        yield f"## {title}"
        yield ""
        yield "| word | meaning |"
        yield "| --- | --- |"
        yield from (f"| **{term.word}** | {term.meaning} |" for term in terms)
