"""`manage.py bench seed`: what a finished build leaves, in a scratch database for benches and pages."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from annotation import prompts
from annotation.accounts.roles import Role, give_role
from annotation.agents import PARSERS
from annotation.builds.pipeline.labels import annotator_of_person
from annotation.models import Build, BuildEvent, Price, SystemText, Tally
from annotation.models.reviews import contradictions, labels_in_force
from bench.measure.scratch_database import Scratch
from bench.seed import figures, second_build, studies, workers
from bench.seed.check import find_seeding_faults
from bench.seed.plan import MODEL, Keys, SeedingPlan, Stretch, reviews_of
from bench.seed.tables import (
    MOMENT,
    VARYING,
    bulk_insert_tables,
    bulk_load_transaction,
    model_of_label,
)
from retrieval.models import Annotator, Collection, Mining

PLANS: Final[Mapping[str, SeedingPlan]] = {
    "few": SeedingPlan(cases=4_120, snippets=1_330, reviewed=100),
    "small": SeedingPlan(cases=41_208, snippets=13_300, reviewed=100),
    "full": SeedingPlan(cases=412_080, snippets=133_000, reviewed=1_000),
}
"""`full` is the paper's build; `small` and `few` have a tenth and a hundredth of it, but as many reviews
as fill a page: lists of all sizes show as many rows then, and what differs is their cost.
"""
RATERS: Final = 5
ADMIN: Final = "bench"
FINISHED, AGAIN = "finished", "finished again"
RATER: Final = "rater-1"


def measure_seed_data(size: str) -> Mapping[str, object]:
    """Seed the size, unless that was done before, and say what is there: rows, bytes, seconds, checks."""
    plan, began = PLANS[size], time.perf_counter()
    scratch = scratch_of(plan)
    new = scratch.make(lambda: fill_seeded_database(plan))
    seconds = time.perf_counter() - began
    used = os.times()
    with scratch.entered():
        size_in_bytes = scratch.bytes()
        return {
            "size": size,
            "database": scratch.database,
            "seeded": new,
            "seconds": round(seconds, 1),
            "processor_seconds": round(
                used.user + used.system + used.children_user + used.children_system, 1
            ),
            "rows": {label: model_of_label(label)._default_manager.count() for label in VARYING},
            "bytes": size_in_bytes,
            "bytes_a_case": round(size_in_bytes / plan.cases),
            "problems": find_seeding_faults(),
        }


def prepare_seeded_database(size: str) -> Scratch:
    """The scratch database of that size, which is filled if need be."""
    plan = PLANS[size]
    scratch = scratch_of(plan)
    scratch.make(lambda: fill_seeded_database(plan))
    return scratch


def scratch_of(plan: SeedingPlan) -> Scratch:
    """Named by all that decides its content: the plan, this code, the prompts and the tables."""
    known = hashlib.sha256(repr((plan, prompts.hash_agent_prompts())).encode())
    base = Path(settings.BASE_DIR)
    here = sorted(Path(__file__).parent.glob("*.py"))
    tables = sorted(base.glob("*/migrations/*.py"))
    for path in (*here, *tables):
        known.update(path.read_bytes())
    return Scratch(known.hexdigest()[:16])


def fill_seeded_database(plan: SeedingPlan) -> None:
    """Write everything into the database that is configured now, which has its tables and no row."""
    keys, again, raters = create_single_rows(plan)
    made = workers.fill_build_rows(plan, keys)
    second = second_build.of_queries(plan, again)
    with bulk_load_transaction():
        bulk_insert_tables(second.rows)
        bulk_insert_tables(create_seeded_reviews(plan, raters).rows)
        contradictions.refresh_contradictions()
        labels_in_force.recount_labels_in_force()
        figures.store_build_figures(keys.build, made)
        figures.store_build_figures(again.build, second)
        people = User.objects.filter(pk__in=[user for user, _ in raters]).order_by("pk")
        studies.make_finished_study(keys.build, User.objects.get(username=ADMIN), list(people))


def create_single_rows(plan: SeedingPlan) -> tuple[Keys, Keys, list[tuple[int, int]]]:
    """The rows that there is one or a handful of; gives the keys of both builds, of raters and annotators."""
    admin = create_seeded_user(ADMIN, Role.ADMIN)
    people = [create_seeded_user(f"rater-{number}", Role.EXPERT) for number in range(1, RATERS + 1)]
    for agent in PARSERS:
        SystemText.keep(prompts.load_agent_prompt(agent).render("system"))
    keys = create_seeded_build(plan, admin, FINISHED, Build.State.DONE, plan.queries)
    again = create_seeded_build(plan, admin, AGAIN, Build.State.DONE, plan.queries, second_build.MODEL)
    return keys, again, [(user.pk, annotator_of_person(user).pk) for user in people]


def create_seeded_user(name: str, role: Role) -> User:
    user = User.objects.create(username=name, date_joined=MOMENT)
    user.set_unusable_password()
    user.save()
    give_role(user, role)
    return user


def create_seeded_build(
    plan: SeedingPlan, admin: User, name: str, state: str, queries: int, model: str = MODEL
) -> Keys:
    """A build whose mining is done, with everything that it refers to."""
    config = {"agents": prompts.hash_agent_prompts(), "fix_rounds": 2, "model": model}
    annotator = Annotator.objects.version(Annotator.Kind.AGENTS, "test-driven agents", config)
    price, _ = Price.objects.get_or_create(
        model=model, effective_from=MOMENT, defaults={"input": Decimal(1), "output": Decimal(5)}
    )
    pool = create_seeded_collection(Collection.Kind.SNIPPETS, "seeded", plan.snippets)
    asked = create_seeded_collection(Collection.Kind.QUERIES, name, queries)
    done = {"state": Mining.State.DONE, "finished_at": MOMENT}
    mining = Mining.objects.create(queries=asked, snippets=pool, encoders=["bm25"], k=plan.k, **done)
    build = Build.objects.create(
        name=name,
        queries=asked,
        snippets=pool,
        mining=mining,
        annotator=annotator,
        state=state,
        provider=Build.Provider.LIVE,
        model=model,
        opened=True,
        created_by=admin,
        finished_at=MOMENT if state == Build.State.DONE else None,
    )
    Tally.objects.create(build=build, cap=None)
    BuildEvent.objects.create(build=build, user=admin, event="launched", note="seeded")
    return Keys(build.pk, mining.pk, annotator.pk, price.pk, asked.pk, pool.pk, model)


def create_seeded_collection(kind: str, name: str, size: int) -> Collection:
    defaults = {"size": size, "source": "made up for benches"}
    return Collection.objects.get_or_create(kind=kind, name=name, defaults=defaults)[0]


def create_seeded_reviews(plan: SeedingPlan, raters: list[tuple[int, int]]) -> Stretch:
    """What experts said, and the labels that this published; one in eight overrides the agents."""
    made = Stretch()
    for number, case, rater, annotator in reviews_of(plan, raters):
        agents = label_of_seeded_case(case)
        label = 1 - agents if number % 8 == 0 else agents
        reason = "the query means something else" if label != agents else ""
        evidence = hashlib.sha256(str(number).encode()).hexdigest()
        made.add("annotation.Review", number, case, case, rater, 1, label, agents, reason, evidence)
        made.add("retrieval.Label", case, annotator, 1, label, True, f"review {number}")
    return made


def label_of_seeded_case(case: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT label FROM annotation_case WHERE id = %s", [case])
        return int(cursor.fetchone()[0])
