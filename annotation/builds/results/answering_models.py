"""Which models answered for an annotator: as its configuration says, or as replies by file named them."""

from __future__ import annotations

from typing import Final

from annotation.models import Build
from retrieval.evaluation.merge_rule import agents_told
from retrieval.models import Annotator

UNNAMED: Final = "any"
"""What an order by file says where nobody has named a model yet."""


def list_answering_models(annotator: Annotator) -> list[str]:
    """The names, in the order in which they came; empty where the annotator asks no model."""
    ordered = str(annotator.config.get("model", ""))
    if ordered != UNNAMED:
        return [ordered] if ordered else []
    rows = Build.objects.filter(annotator=annotator, provider=Build.Provider.EXCHANGE).order_by("pk")
    named = dict.fromkeys(name for names in rows.values_list("answered_by", flat=True) for name in names)
    return list(named) or [UNNAMED]


def describe_agents(annotator: Annotator) -> str:
    """What a benchmark's merge rule says of agents, with who answered where that came by file."""
    named = [name for name in list_answering_models(annotator) if name != UNNAMED]
    is_by_file = annotator.config.get("model") == UNNAMED
    who = f", answered by {', '.join(named)}" if is_by_file and named else ""
    return f"{agents_told(annotator)}{who}"
