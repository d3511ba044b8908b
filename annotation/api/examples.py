"""A body for each operation that takes one, for the documentation; a test sends each to its schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

DIGEST: Final = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
TOKEN: Final = "3f2a9c"  # noqa: S105 (of a reserved pair, no secret)
BUILD: Final = {"name": "mine", "queries": "mine", "snippets": "mine", "k": 10}
RATING: Final = {"token": TOKEN, "choice": "1", "evidence": DIGEST, "seen_revision": 0, "notes": "does it"}

EXAMPLES: Final[Mapping[str, dict[str, Any]]] = {
    "add_rater": {"user": "ruth", "condition": "own_tests", "capacity": 200, "reason": "one more expert"},
    "amend_study": {"margin": 0.05, "reason": "the pilot was wider"},
    "cancel_extension": {"reason": "the wrong queries"},
    "change_account": {"action": "role", "role": "expert"},
    "change_cap": {"budget": "25.00", "reason": "the second half"},
    "change_project_cap": {"budget": "100.00", "reason": "the second half"},
    "change_rater": {"action": "capacity", "capacity": 300, "reason": "has more time"},
    "change_review_rule": {"reviews_needed": 2, "reason": "two experts from now on"},
    "choose_columns": {"query": "question", "snippet": "code", "label": "is_match"},
    "choose_guideline": {"guideline": "rules@2", "reason": "after the pilot"},
    "control_build": {"action": "pause", "reason": "the server is needed tonight"},
    "control_study": {"action": "start"},
    "decide": {"action": "accept", "seen_revision": 0},
    "decide_pair": {"value": 1, "cause": "query", "note": "The query asks for the index.", "seen": 0},
    "enter_price": {"model": "small-model", "input": "0.25", "output": "2.00"},
    "estimate_again": {"name": "mine again", "start": "arbitrating"},
    "estimate_build": {**BUILD, "provider": "live", "model": "small-model", "budget": "5"},
    "estimate_extension": {"k": 20},
    "estimate_functions": {"name": "more functions"},
    "estimate_repeat": {"tag": "inverse"},
    "estimate_study": {
        "name": "blind",
        "builds": ["mine"],
        "sample": {"size": 200},
        "conditions": [{"kind": "own_tests", "raters": 3}],
        "simulate": "precision",
    },
    "estimate_unjudged": {"run": "my-model", "depth": 10},
    "export_benchmark": {"format": "beir"},
    "extend_build": {"k": 20, "reason": "too few matches"},
    "filter_collection": {"name": "tested", "filters": ["testable"]},
    "give_pairs": {"name": "given", "pairs": [{"query": "sort a list", "code": "def f(x): …", "label": 1}]},
    "give_up_ratings": {"reason": "everybody has seen these pairs"},
    "hold_pair": {"token": TOKEN},
    "import_files": {"name": "mine", "format": "table", "columns": "guess", "file": "mine.csv"},
    "invite_account": {"role": "expert", "name": "Ruth", "email": "ruth@example.org"},
    "join_study": {"guideline": 3, "years": "4", "occupation": "developer", "languages": "German"},
    "judge_unjudged": {"run": "my-model", "depth": 10, "reason": "a new system"},
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
    "make_webhook": {"name": "chat", "address": "https://chat.example/hook", "events": ["build.done"]},
    "publish_build": {"name": "mine", "pool": "collection"},
    "publish_corrections": {"name": "mine"},
    "publish_unjudged": {"build": "mine filled"},
    "queue_unjudged": {"run": "my-model", "depth": 5, "reason": "experts judge these"},
    "redraw_study": {
        "name": "blind",
        "builds": ["mine"],
        "sample": {"size": 300},
        "conditions": [{"kind": "own_tests", "raters": 3}],
        "seen_change": 12,
    },
    "repeat_pairs": {"tag": "inverse", "reason": "the rules changed"},
    "reproduce_figures": {"start": "lists"},
    "run_again": {"name": "mine again", "start": "arbitrating", "reason": "a better arbiter"},
    "score_encoders": {"encoders": ["bm25"]},
    "score_study": {"versions": ["agents"]},
    "set_webhook": {"on": False},
    "skip_pair": {"token": TOKEN, "reason": "I do not know this library."},
    "take_back": {"seen_revision": 1},
    "take_pin": {"kind": "leaderboard", "subject": "mine@1", "metric": "ndcg@10"},
    "take_replies": {
        "model": "my-model",
        "replies": [{"id": DIGEST, "reply": {"verdict": 1, "explanation": "It sorts the list."}}],
    },
    "test_connection": {"model": "small-model", "caching": True},
    "undo_review": {"seen_revision": 1},
    "upload_run": {"system": "my-model", "file": "my-model.run"},
    "write_guideline": {
        "name": "rules",
        "text": "Label 1 is a match.",
        "change": "wording",
        "note": "says what a match is",
        "seen_version": 1,
    },
}
"""By operation. Of what is sent as multipart/form-data a file stands as its name."""
