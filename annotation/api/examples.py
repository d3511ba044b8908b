"""A body for each operation that takes one, for the documentation; a test sends each to its schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

DIGEST: Final = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
TOKEN: Final = "3f2a9c"  # noqa: S105 (of a reserved pair, no secret)
BUILD: Final = {"name": "mine", "queries": "mine", "snippets": "mine", "k": 10}
RATING: Final = {"token": TOKEN, "choice": "1", "evidence": DIGEST, "seen_revision": 0, "notes": "does it"}

EXAMPLES: Final[Mapping[str, dict[str, Any]]] = {
    "cancel_extension": {"reason": "the wrong queries"},
    "change_cap": {"budget": "25.00", "reason": "the second half"},
    "change_review_rule": {"reviews_needed": 2, "reason": "two experts from now on"},
    "choose_columns": {"query": "question", "snippet": "code", "label": "is_match"},
    "control_build": {"action": "pause", "reason": "the server is needed tonight"},
    "control_study": {"action": "start"},
    "decide": {"action": "accept", "seen_revision": 0},
    "decide_pair": {"value": 1, "cause": "query", "note": "The query asks for the index.", "seen": 0},
    "estimate_again": {"name": "mine again", "start": "arbitrating"},
    "estimate_build": {**BUILD, "provider": "live", "model": "small-model", "budget": "5"},
    "estimate_extension": {"k": 20},
    "estimate_functions": {"name": "more functions"},
    "export_benchmark": {"format": "beir"},
    "extend_build": {"k": 20, "reason": "too few matches"},
    "filter_collection": {"name": "tested", "filters": ["testable"]},
    "give_pairs": {"name": "given", "pairs": [{"query": "sort a list", "code": "def f(x): …", "label": 1}]},
    "hold_pair": {"token": TOKEN},
    "import_files": {"name": "mine", "format": "table", "columns": "guess", "file": "mine.csv"},
    "join_study": {"guideline": 3, "years": "4", "occupation": "developer", "languages": "German"},
    "keep_draft": {"field": "notes", "text": "perhaps"},
    "launch_build": BUILD,
    "launch_several": {
        "name": "audit",
        "pairs": {"benchmark": "mine@1"},
        "annotators": ["agents", "single_exact", "experts"],
    },
    "make_study": {
        "name": "blind",
        "builds": ["mine"],
        "sample": {"size": 200, "strata": ["label"]},
        "conditions": [{"kind": "own_tests", "raters": 3}],
        "raters": [{"user": "ruth", "condition": "own_tests", "capacity": 200}],
        "comparisons": [["agents", "own_tests"]],
    },
    "merge_rounds": {"rule": "majority"},
    "order_figures": {"metric": "ndcg@10"},
    "order_functions": {"name": "more functions", "limit": 50},
    "post_rating": RATING,
    "post_review": {"label": 0, "reason": "drops duplicates", "seen_revision": 0, "evidence": DIGEST},
    "publish_build": {"name": "mine", "pool": "collection"},
    "publish_corrections": {"name": "mine"},
    "reproduce_figures": {"start": "lists"},
    "run_again": {"name": "mine again", "start": "arbitrating", "reason": "a better arbiter"},
    "score_encoders": {"encoders": ["bm25"]},
    "skip_pair": {"token": TOKEN, "reason": "I do not know this library."},
    "take_back": {"seen_revision": 1},
    "take_pin": {"kind": "leaderboard", "subject": "mine@1", "metric": "ndcg@10"},
    "take_replies": {
        "model": "my-model",
        "replies": [{"id": DIGEST, "reply": {"verdict": 1, "explanation": "It sorts the list."}}],
    },
    "undo_review": {"seen_revision": 1},
    "upload_run": {"system": "my-model", "file": "my-model.run"},
}
"""By operation. Of what is sent as multipart/form-data a file stands as its name."""
