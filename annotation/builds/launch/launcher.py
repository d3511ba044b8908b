"""Order and start a build. Who, when and why is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import IntegrityError, transaction

from annotation import prompts
from annotation.accounts.actors import AtShell
from annotation.builds.drift import watched_pairs
from annotation.builds.launch.order import AS_IN_THE_PAPER, CRITERIA, LaunchRefused, Order
from annotation.builds.launch.prices import is_priced, keep_typed_price, unknown_price
from annotation.builds.launch.provider_key import configured_key, name_key_variables
from annotation.builds.limits import canary
from annotation.llm import host_of
from annotation.llm.profiles import load_provider_profile
from annotation.llm.recording import rounds_of
from annotation.llm.sampling import NotSampling, refuse_bad_limit
from annotation.models import Build, BuildEvent, ProjectTally, Tally
from annotation.models.builds.build import NANO, ReviewRule
from retrieval import encoders
from retrieval.fusion import Fusion
from retrieval.mining import known_encoders
from retrieval.models import Annotator, Collection, Mining
from retrieval.nearest import INDEXES
from sandbox.backends.containers import image_tag
from sandbox.program import Limits

MOST_DOLLARS = 1_000_000
LONGEST_NAME = 120

Actor = AbstractBaseUser | AnonymousUser | AtShell | None

MOST_ROUNDS = 9
MOST_PAIRS = 2**31 - 1
"""What the column of a limit holds on every database."""


def launch_build(order: Order, user: Actor = None) -> Build:
    """A new build, whose mining or given pairs a worker takes up at once. Raises LaunchRefused."""
    refuse_missing_key(order)
    refuse_bad_order(order)
    try:
        with transaction.atomic():
            return create_build_rows(order, user)
    except IntegrityError:
        refuse_bad_order(order)  # somebody, or a second click, took the name meanwhile
        raise


OF_BUILD: Final = (
    *("queries", "snippets", "provider", "recorded", "model"),
    *("limit", "rounds", "batches", "reviews_needed", "hides_reviews"),
)
"""What a build has under the same name as its order."""
SWITCHES: Final = (
    *("reader", "neighbour", "withhold_report", "prompt_set"),
    *("fix_rounds", "rewrites", "second_test"),
)
"""The same of the configuration of its agents."""


def create_build_rows(
    order: Order, user: Actor, mining: Mining | None = None, annotator: Annotator | None = None
) -> Build:
    """The rows of a new build, over an earlier mining where one is given.

    Raises IntegrityError where the name is taken.
    """
    keep_typed_price(order)
    build = Build.objects.create(
        name=order.name.strip(),
        mining=None if order.given else mining or mining_of(order),
        pair_list=order.given,
        annotator=annotator or annotator_of_order(order),
        created_by=account_of_actor(user),
        **{name: getattr(order, name) for name in OF_BUILD},
    )
    cap = None if order.budget is None else int(order.budget * NANO)
    Tally.objects.create(build=build, cap=cap)
    without = "; without a price" if order.unpriced and not is_priced(order.model) else ""
    words = f"{order.proposed}; model {order.model}{without}"
    why = f": {order.reason.strip()}" if order.reason.strip() else ""
    record_build_event(build, user, "launched", words + in_rounds(order) + why)
    if order.skip_canary.strip():
        record_build_event(build, user, "skipped the canary", order.skip_canary.strip())
    elif order.provider == Build.Provider.LIVE:
        canary.plan_canary(build)
    if order.drift_check:
        watch = watched_pairs.plan_drift_watch(build)
        record_build_event(build, user, "drift check", f"every {watch.every:,} settled cases")
    return build


def in_rounds(order: Order) -> str:
    """What the history says of several rounds."""
    alike = " at temperature 0, where a provider may answer each alike" if order.rounds_may_be_alike else ""
    return f"; {order.rounds} rounds{alike}" if order.rounds > 1 else ""


def refuse_bad_order(order: Order) -> None:
    """Everything that can be known to be wrong before any work. Raises LaunchRefused."""
    refuse_bad_name(order)
    if order.queries.kind != Collection.Kind.QUERIES or order.snippets.kind != Collection.Kind.SNIPPETS:
        raise LaunchRefused("Choose one collection of queries and one of functions.")
    if not order.queries.size or not order.snippets.size:
        raise LaunchRefused("One of the collections is empty; import something into it first.")
    if not 1 <= order.rounds <= MOST_ROUNDS:
        raise LaunchRefused(f"Each pair is judged in 1 to {MOST_ROUNDS} rounds.")
    if order.reviews_needed not in ReviewRule.values:
        raise LaunchRefused("An expert's label counts at once (1), or when two experts agree (2).")
    if order.limit is not None and not 1 <= order.limit <= MOST_PAIRS:
        raise LaunchRefused(f"The limit is a number of pairs: 1 to {MOST_PAIRS:,}, or leave it empty.")
    if order.given is None:
        refuse_bad_mining(order)
    refuse_bad_provider(order)


def refuse_bad_mining(order: Order) -> None:
    """What would be searched, and how. Raises LaunchRefused."""
    if not 1 <= order.k <= 1000:
        raise LaunchRefused("k is the number of functions for each query: choose 1 to 1,000.")
    refuse_bad_encoders(order.encoders)
    refuse_bad_index(order)


def refuse_bad_name(order: Order) -> None:
    """A build is found by its name. Raises LaunchRefused."""
    if not order.name.strip():
        raise LaunchRefused("Give the build a name.")
    if max(len(order.name.strip()), len(order.model)) > LONGEST_NAME:
        raise LaunchRefused(f"The names of build and model have at most {LONGEST_NAME} characters.")
    if Build.objects.filter(name=order.name.strip()).exists():
        raise LaunchRefused(
            f"There is already a build called {order.name.strip()!r} already; choose another name."
        )


def refuse_bad_provider(order: Order) -> None:
    """Who is to answer has to be there: money and a key for live models, a file for recorded replies."""
    if order.budget is not None and not (order.budget.is_finite() and 0 <= order.budget <= MOST_DOLLARS):
        raise LaunchRefused(f"The budget is in dollars: 0 to {MOST_DOLLARS:,}, or leave it empty for no cap.")
    if not order.model.strip():
        raise LaunchRefused("Name the model that the agents ask.")
    try:
        refuse_bad_limit(order.sampling)
    except NotSampling as error:
        raise LaunchRefused(str(error)) from error
    if order.provider == Build.Provider.LIVE:
        refuse_unpaid(order)
    elif order.drift_check:
        raise LaunchRefused("A drift check needs a live model, which it asks again and again.")
    if order.batches and (why := why_no_batches(order.provider)):
        raise LaunchRefused(why)
    if order.provider == Build.Provider.RECORDED:
        refuse_unrecorded(order)


def refuse_unrecorded(order: Order) -> None:
    """A recording answers what was asked when it was made: nothing anew, and no further round."""
    if not Path(order.recorded).is_file():
        raise LaunchRefused(f"There are no recorded replies at {order.recorded or 'an empty path'}.")
    if order.fresh:
        raise LaunchRefused(
            "Recorded replies can't be asked again. Change the model or a switch, allow stored replies, or "
            "choose another provider."
        )
    there = rounds_of(Path(order.recorded)) if order.rounds > 1 else 1
    if order.rounds > there:
        raise LaunchRefused(
            f"{Path(order.recorded).name} has replies for {there} {'round' if there == 1 else 'rounds'}, not "
            f"for {order.rounds}: every case of a further round would be abandoned. Choose {there}, or file "
            'exchange or a live model; a recording of more rounds says "round" in each line of a later one.'
        )


def refuse_unpaid(order: Order) -> None:
    """Live models take a price, or the explicit choice to do without. An estimate needs no key."""
    if (order.price_in is None) != (order.price_out is None):
        raise LaunchRefused("Type both prices, of tokens in and of tokens out, or neither.")
    if order.typed_price is not None or is_priced(order.model):
        return
    if why := why_uncounted(order.model):
        raise LaunchRefused(why)
    if order.budget is not None:
        raise LaunchRefused(
            f"A budget can't be kept without a price: enter that of {order.model}, or leave the budget empty."
        )
    if not order.unpriced:
        raise LaunchRefused(f"{unknown_price(order.model)} Enter it, or choose to run without a price.")


def refuse_missing_key(order: Order) -> None:
    """A live launch takes a key, where the provider wants one. Raises LaunchRefused."""
    if order.provider == Build.Provider.LIVE and lacks_key():
        raise LaunchRefused(f"No key: set {name_key_variables()} and start again, or choose file exchange.")


def why_uncounted(model: str) -> str:
    """Why the project's cap lets nothing new be asked of a model without a price; empty where it may."""
    if is_priced(model) or not ProjectTally.objects.filter(cap__isnull=False).exists():
        return ""
    return (
        f"The project has a cap, which can't be kept without a price: enter that of {model} "
        "(0 for a model that costs nothing)."
    )


def why_no_batches(provider: str) -> str:
    """Why a build that `provider` answers can't be asked by batch; empty where it can."""
    if provider != Build.Provider.LIVE:
        return "Batches are for live builds: choose the live provider, or ask without batches."
    if not load_provider_profile(settings.LLM_PROFILE).batches:
        return f"The provider profile {settings.LLM_PROFILE!r} offers no batches: ask without them."
    return ""


def lacks_key() -> bool:
    """Whether the provider wants a key, and none is configured."""
    return load_provider_profile(settings.LLM_PROFILE).needs_key and not configured_key()


def refuse_bad_encoders(names: tuple[str, ...]) -> None:
    if not names or len(set(names)) < len(names):
        raise LaunchRefused("Choose at least one encoder, each once.")
    for name in names:
        try:
            known_encoders.find_encoder(name)  # a spec that differs is refused, whoever is to mine
            why = known_encoders.why_missing(name)
        except encoders.UnknownEncoder as unknown:
            raise LaunchRefused(str(unknown)) from unknown
        if why and not settings.CELERY_BROKER_URL:  # with a broker, a machine of its own may mine
            raise LaunchRefused(why)


def refuse_bad_index(order: Order) -> None:
    """Raises LaunchRefused where an approximate index could not hold what is searched."""
    if not order.approximate:
        return
    if order.approximate not in INDEXES:
        raise LaunchRefused(f"Approximate search is by one of {', '.join(INDEXES)}.")
    lexical = [name for name in order.encoders if encoders.is_lexical(known_encoders.find_encoder(name))]
    if lexical or order.fusion is not Fusion.MEAN:
        what = f"without {', '.join(lexical)}" if lexical else "and fusion by mean"
        raise LaunchRefused(f"An approximate index holds vectors: choose encoders of vectors {what}.")


def mining_of(order: Order) -> Mining:
    known_encoders.store_encoder_specs(map(known_encoders.find_encoder, order.encoders))
    return Mining.objects.create(
        queries=order.queries,
        snippets=order.snippets,
        encoders=list(order.encoders),
        k=order.k,
        limit=None if order.limit is None else -(-order.limit // pairs_a_query(order)),
        rule=int(order.rule),
        query_rule=int(order.query_rule),
        text_option=order.text_option,
        fusion=order.fusion,
        approximate=order.approximate,
    )


def pairs_a_query(order: Order) -> int:
    """k, or fewer where fewer snippets pass the rule: else the limit would end at too few queries.

    Of given pairs the average.
    """
    if order.given is not None:
        return max(1, -(-order.given.size // max(1, order.given.asked)))
    return max(1, min(order.k, order.snippets.members.passing(order.rule).count()))


def annotator_of_order(order: Order, more: Mapping[str, Any] = MappingProxyType({})) -> Annotator:
    """The order's annotator; `more` is what else makes it another one."""
    kind, name, config = configure_annotator(order)
    return Annotator.objects.version(kind, name, {**config, **more})


def configure_annotator(order: Order) -> tuple[Annotator.Kind, str, dict[str, Any]]:
    """The annotator's exact configuration: any other prompt, model or switch is another annotator."""
    if order.annotator in CRITERIA:
        config = {**asked_of(order), "agents": prompts.hash_agent_prompts(prompts.ALONE)}
        config["criterion"] = CRITERIA[order.annotator].value
        return Annotator.Kind.SINGLE_LLM, "single LLM", config
    by_query = {"screener": "query", "seed": order.seed} if order.screen_by_query else {"screener": "pair"}
    config = {
        **asked_of(order),
        **by_query,
        "agents": prompts.hash_agent_prompts(prompts_of_order(order)),
        **{name: getattr(order, name) for name in SWITCHES},
        **tried_in(),
    }
    if all(config[name] == value for name, value in AS_IN_THE_PAPER.items()):
        config["profile"] = "paper"
    return Annotator.Kind.AGENTS, "test-driven agents", config


def prompts_of_order(order: Order) -> tuple[str, ...]:
    """The prompts of the order's agents."""
    if order.prompt_set == "paper":
        return prompts.PAPER
    unused = {"single_llm", "tie_breaker"} if not order.reader else set[str]()
    unused |= set() if order.neighbour else {"neighbour_writer"}
    asked = prompts.IN_COMPANY if order.screen_by_query else prompts.AGENTS
    return tuple(name for name in asked if name not in unused)


def tried_in() -> dict[str, Any]:
    """Where any annotator's test programs run, and within which limits."""
    image = settings.SANDBOX_IMAGE or image_tag()
    return {
        "limits": Limits().digest(),
        "sandbox": {"backend": settings.SANDBOX_BACKEND, "image": image},
    }


def asked_of(order: Order) -> dict[str, Any]:
    """Whom any annotator asks, and how."""
    return {
        "model": order.model,
        "base_url": host_of(settings.LLM_BASE_URL) if order.provider == Build.Provider.LIVE else "",
        "sampling": order.sampling,
        "salt": order.name.strip() if order.fresh else "",
    }


def account_of_actor(user: Actor) -> Any:
    """The account; None for the workbench itself, and for whoever uses the command line."""
    return user if isinstance(user, AbstractBaseUser) and user.is_authenticated else None


def record_build_event(build: Build, user: Actor, event: str, note: str = "") -> None:
    """Append to the build's history: who did what, and why."""
    told = f"{note} ({user})" if isinstance(user, AtShell) else note
    BuildEvent.objects.create(build=build, user=account_of_actor(user), event=event, note=told)
