"""The plan of a study: what it says, when it is frozen, and how it is amended.

The plan's hash is the sha256 of its canonical JSON: sorted keys, no spaces, UTF-8. What is exported for
pre-registration is exactly that text, so anybody can compute the hash again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import Amendment, Condition, Enrolment, Study, StudyPair
from annotation.studies.audit_log import Verb, append_audit_event, last_change
from annotation.studies.plan.row_names import Rows, find_plannable_rows, resolve_comparison_rows
from retrieval.texts.hostile import mark_hostile_characters

FORMAT: Final = 1
LONGEST_WHY: Final = 2_000
SAY_WHY: Final = "The plan is frozen: say why it is amended."
ANOTHER_STUDY: Final = "close this one and make another study of it"
FIXED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "kind": f"the kind of the study: {ANOTHER_STUDY}",
        "scale": f"the scale: labels on two scales can't be compared; {ANOTHER_STUDY}",
        "purpose": "the purpose: a sealed study stays sealed, and one that was looked at can't be sealed",
        "sample": f"the sample: {ANOTHER_STUDY}, with other pairs",
        "order": f"the order of the pairs: {ANOTHER_STUDY}",
        "docstring": f"whether docstrings are shown: it is stored with each label; {ANOTHER_STUDY}",
        "ties": f"whether ties are allowed: {ANOTHER_STUDY}",
        "seed": f"the seed: {ANOTHER_STUDY}",
        "one_more_on_a_split": f"whether one more rater is asked where they split: {ANOTHER_STUDY}",
        "profile_asked": f"whether raters must say who they are: {ANOTHER_STUDY}",
        "own_tests_need_a_run": f"whether a label under own tests needs a run: {ANOTHER_STUDY}",
        "practice": f"whether raters are shown the answers of onboarding pairs: {ANOTHER_STUDY}",
    }
)
"""Parts of a frozen plan that no amendment may change, and the way that is open instead."""


class StudyRefused(ValueError):
    """The study can't be made, changed or moved like this; the message says what to do."""


class ChangedMeanwhile(StudyRefused):
    """Somebody else has changed the study since the form was opened; nothing was stored."""


def seen_now(study: Study) -> int:
    """The number of the study's last change: a form sends it back to prove what it was filled in beside."""
    last = last_change(study)
    return last.pk if last else 0


def refuse_if_changed(study: Study, seen: int) -> None:
    """Raises ChangedMeanwhile where it was changed after `seen` (-1: not told). Call it under its lock."""
    last = last_change(study)
    if seen < 0 or last is None or last.pk == seen:
        return
    who = last.user.get_username() if last.user else "Somebody"
    raise ChangedMeanwhile(
        f"{who} has changed the study since this page was opened, and nothing is stored. What you typed is "
        "still here: compare it with the stored plan, then save again to replace that."
    )


def format_canonical_plan(plan: Any) -> str:
    """The one text of a plan."""
    return json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def hash_plan(plan: Any) -> str:
    """sha256 (hex) of the canonical JSON."""
    return hashlib.sha256(format_canonical_plan(plan).encode()).hexdigest()


def plan_of(study: Study) -> dict[str, Any]:
    """The study's plan as it stands. Raters are pseudonyms and counts, never names."""
    plan = {
        "format": FORMAT,
        "study": study.name,
        "question": study.question,
        "kind": study.kind,
        "purpose": study.purpose,
        "scale": study.scale,
        "order": study.order,
        "docstring": study.docstring,
        "ties": study.ties,
        "seed": study.seed,
        "sample": sample_of(study),
        "conditions": [condition_of(condition) for condition in study.conditions.order_by("pk")],
        "reference": study.reference,
        "comparisons": study.comparisons,
        "margin": study.margin,
        "exclusions": study.exclusions,
        "guidelines": guidelines_of(study),
        "information_sha256": hashlib.sha256(study.information.encode()).hexdigest(),
        "planned_pairs": study.planned_pairs,
    }
    # Only where they are on: plans that were frozen before there were these choices stay what they are.
    chosen = {
        "one_more_on_a_split": study.one_more,
        "profile_asked": study.asks_profile,
        "practice": study.practice,
        "origin_shown": study.shows_origin,
        "own_tests_need_a_run": study.needs_run
        and study.conditions.filter(kind=Condition.Kind.OWN_TESTS).exists(),
    }
    return plan | {name: True for name, is_on in chosen.items() if is_on}


def sample_of(study: Study) -> dict[str, Any]:
    """What was asked for and what was drawn; the pairs themselves by one hash over all of them."""
    asked = study.sample.get("wish", study.sample) if isinstance(study.sample, dict) else {}
    planted = study.pairs.exclude(planted="").values_list("planted", flat=True)
    kinds = list(planted)
    return {
        "asked": asked,
        "builds": sorted(study.builds.values_list("name", flat=True)),
        "pairs": study.pairs.filter(planted="").count(),
        "planted": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "pairs_sha256": (study.sample or {}).get("pairs_sha256") or pairs_hash(study),
    }


def pairs_hash(study: Study) -> str:
    """sha256 over all pairs in their order: number, digests of the texts, stratum, probability, planted."""
    hasher = hashlib.sha256()
    rows = StudyPair.objects.filter(study=study).order_by("number")
    columns = "number", "pair__query__body_id", "pair__snippet__body_id", "other__snippet__body_id"
    for row in rows.values_list(*columns, "stratum", "probability", "planted", "answer").iterator(2000):
        hasher.update(format_canonical_plan(list(row)).encode() + b"\n")
    return hasher.hexdigest()


def condition_of(condition: Condition) -> dict[str, Any]:
    raters = Enrolment.objects.filter(condition=condition).order_by("pseudonym")
    return {
        "kind": condition.kind,
        "ratings_a_pair": condition.raters,
        "raters": [
            {"pseudonym": pseudonym, "capacity": capacity} | ({"excluded": True} if excluded else {})
            for pseudonym, capacity, excluded in raters.values_list("pseudonym", "capacity", "excluded")
        ],
    }


def guidelines_of(study: Study) -> dict[str, Any] | None:
    found = study.guideline
    if found is None:
        return None
    body = format_canonical_plan([found.text, found.worked_cases])
    sha256 = hashlib.sha256(body.encode()).hexdigest()
    return {"name": found.name, "version": found.version, "sha256": sha256}


def freeze_plan(study: Study) -> None:
    """Freeze the plan with its hash, at the first rating. Idempotent, and safe beside another first rating.

    To be called in the transaction of the rating.
    """
    if study.frozen_at is not None:
        return
    with transaction.atomic():
        # Looked at under the lock: what an admin changed while this rating waited is part of the plan.
        now = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if now.frozen_at is None:
            now.plan = plan_of(now)
            now.plan_hash, now.frozen_at = hash_plan(now.plan), timezone.now()
            now.save(update_fields=["plan", "plan_hash", "frozen_at"])
            append_audit_event(None, Verb.STUDY_FROZEN, now.name, now, {"plan_hash": now.plan_hash})
        study.refresh_from_db(fields=["plan", "plan_hash", "frozen_at"])


@contextmanager
def change_with_amendment(study: Study, why: str, by: User) -> Iterator[Study]:
    """Change the study inside; where its plan is frozen, the change is an amendment.

    Yields the locked row, which the body changes and saves. Raises StudyRefused, and nothing is changed,
    where the study is closed, where a part of the plan changes that is fixed, where a comparison is changed
    to one of no row of the table or the margin to one that is none, or where nobody said why.
    """
    with transaction.atomic():
        # No key is changed, so that whoever stores something of the study need not wait.
        locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if locked.state == Study.State.CLOSED:
            raise StudyRefused("The study is closed: its plan is history. Make another study of it.")
        compared, margin = locked.comparisons, locked.margin
        yield locked
        study.refresh_from_db()
        if study.margin != margin:
            refuse_margin(study.margin)
        if (study.comparisons, study.margin) != (compared, margin):
            refuse_without_table(study.kind, study.comparisons, study.margin)
        if study.comparisons != compared:
            refuse_unknown_rows(study)
        if study.frozen_at is not None:
            amend_plan(study, why, by)


def refuse_unknown_rows(study: Study) -> None:
    """Raises StudyRefused where a comparison is not of two rows that the main table has, or will have."""
    refuse_unknown(find_plannable_rows(study), study.comparisons)


def refuse_margin(margin: float | None) -> None:
    """Raises StudyRefused for a margin that no study could keep, or each would."""
    if margin is not None and not 0 < margin < 1:
        raise StudyRefused("The margin is a share above 0 and below 1, such as 0.05.")


def refuse_without_table(kind: str, comparisons: Sequence[Any], margin: float | None) -> None:
    """Raises StudyRefused where a pairwise study is to compare rows: it has no main table."""
    if kind == Study.Kind.PAIRWISE and (comparisons or margin is not None):
        raise StudyRefused(
            "A pairwise study has no main table whose rows could be compared: leave comparisons and margin "
            "empty. Its figures say which side raters prefer, and how surely."
        )


def refuse_unknown(rows: Rows, comparisons: Iterable[Sequence[str]]) -> None:
    """Raises StudyRefused where a comparison is not of two of these rows."""
    _, problems = resolve_comparison_rows(rows, comparisons)
    if problems:
        raise StudyRefused(f"A comparison can’t be made. {' '.join(problems)}")


def amend_plan(study: Study, why: str, by: User) -> None:
    """Note how the frozen plan differs from what it says now; nothing where it does not."""
    before, after = study.plan or {}, plan_of(study)
    if format_canonical_plan(before) == format_canonical_plan(after):
        return
    refuse_fixed(before, after)
    if not why.strip():
        raise StudyRefused(SAY_WHY)
    number = study.amendments.count() + 1
    Amendment.objects.create(
        study=study,
        number=number,
        reason=mark_hostile_characters(why)[:LONGEST_WHY],
        before=before,
        after=after,
        plan_hash=hash_plan(after),
        by=by,
    )
    study.plan, study.plan_hash = after, hash_plan(after)
    study.save(update_fields=["plan", "plan_hash"])
    detail = {"number": number, "why": why[:LONGEST_WHY], "plan_hash": study.plan_hash}
    append_audit_event(by, Verb.STUDY_AMENDED, f"{study.name}, amendment {number}", study, detail)


def refuse_fixed(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    for part, way in FIXED.items():
        if format_canonical_plan(before.get(part)) != format_canonical_plan(after.get(part)):
            raise StudyRefused(f"The plan is frozen, so no amendment may change {way}.")
    kinds = [[one["kind"] for one in plan["conditions"]] for plan in (before, after)]
    if kinds[0] != kinds[1]:
        raise StudyRefused(f"The plan is frozen: its conditions stay; {ANOTHER_STUDY}.")
