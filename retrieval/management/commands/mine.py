"""`manage.py mine ID [--fusion FUSION]`: perform one mining in this process; workers start it as a child."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from retrieval.encoders import MissingWeights, UnknownEncoder
from retrieval.encoders.dense.endpoint import asked_in_words
from retrieval.evaluation.robustness.weights_proof import NotTold, identify_encoders
from retrieval.fusion import Fusion
from retrieval.management import leash
from retrieval.management.light import LightCommand
from retrieval.mining import (
    NothingToMine,
    OtherWeights,
    Reporter,
    Unwanted,
    begin_anew,
    fail_mining,
    perform_mining,
    refuse_impossible,
    resting_on,
)
from retrieval.mining.input_texts import describe_left_out, left_out_of
from retrieval.models import Mining
from retrieval.nearest import INDEXES
from retrieval.texts.plurals import count_noun


class Command(LightCommand):
    help = (
        "Perform one mining in this process and store its candidates. Several processes, on one machine or "
        "many, may be at one mining: each takes the parts that no other works on. Of a mining that is done, "
        "once a build judges its candidates or a benchmark holds them, the stored figures are shown."
    )
    refusals = (NotTold,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("mining", type=int, help="id of the mining")
        parser.add_argument(
            "--fusion", choices=list(Fusion), help="how scores are fused from now on (default: as ordered)"
        )
        parser.add_argument(
            "--approximate",
            choices=[*INDEXES, "none"],
            help="search by an approximate index from now on, and measure its recall (default: as ordered)",
        )
        parser.add_argument("--anew", action="store_true", help="forget the parts that were searched before")
        parser.add_argument(
            "--identify",
            action="store_true",
            help="only note which weights its encoders had, of a mining that was done before that was noted",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument("--worker", default="", help="name of this worker's parts (for workers)")
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.end_with_parent(options)
        mining = Mining.objects.select_related("queries", "snippets").filter(pk=options["mining"]).first()
        if mining is None:
            raise CommandError(f"There is no mining {options['mining']}.")
        if options["identify"]:
            self.identify(mining)
            return
        found = self.found(mining, options)
        mining.refresh_from_db()
        self.stdout.write(
            json.dumps(serialize_mining(mining, found)) if options["json"] else describe_mining(mining, found)
        )

    def found(self, mining: Mining, options: dict[str, Any]) -> int | None:
        """The number of candidates, mined now unless something rests on those that there are."""
        again = mining.state == Mining.State.DONE and not options["worker"]
        if again and (used := resting_on(mining)):
            self.refuse_other(mining, options, used)
            return mining.candidates.count()
        try:
            self.order(mining, options)
        except (NothingToMine, MissingWeights, UnknownEncoder) as why:
            raise CommandError(f"{why} Nothing was changed.") from why
        try:
            return perform_mining(
                mining, settings.COSQA_HOME / "vectors", Reporter(mining), options["worker"]
            )
        except Unwanted:
            return None
        except (NothingToMine, MissingWeights, OtherWeights, UnknownEncoder) as why:
            fail_mining(mining, str(why))
            raise CommandError(str(why)) from why

    def identify(self, mining: Mining) -> None:
        """Prove by its scores what its encoders were, and note that, where nothing is noted."""
        if mining.state != Mining.State.DONE or mining.identities:
            what = "is not done" if mining.state != Mining.State.DONE else "says what its encoders were"
            raise CommandError(f"Mining {mining.pk} {what}: there is nothing to find.")
        found = identify_encoders(mining, settings.COSQA_HOME / "vectors")
        Mining.objects.filter(pk=mining.pk, identities__isnull=True).update(identities=found)
        self.stdout.write("\n".join(f"{name}: {identity}" for name, identity in found.items()))

    def refuse_other(self, mining: Mining, options: dict[str, Any], used: str) -> None:
        """Raises CommandError where another search is asked for: its candidates stay as they are."""
        if options["fusion"] or options["approximate"] or options["anew"]:
            raise CommandError(
                f"Mining {mining.pk} is done, and {used} on its candidates: order another build, or extend "
                "the one that there is."
            )

    def order(self, mining: Mining, options: dict[str, Any]) -> None:
        """Take over what the command line changes; a mining that was done is wanted again."""
        other = options["fusion"] and options["fusion"] != mining.fusion
        done = mining.state == Mining.State.DONE and not options["worker"]
        if options["approximate"] not in (None, mining.approximate or "none"):
            mining.approximate, other = options["approximate"].replace("none", ""), True
        if other or done or options["anew"]:
            mining.fusion = options["fusion"] or mining.fusion
            refuse_impossible(mining)
            begin_anew(mining)


def serialize_mining(mining: Mining, found: int | None) -> dict[str, Any]:
    """What was found, for programs; `candidates` is null while others are at it."""
    return {
        "mining": mining.pk,
        "state": mining.state,
        "candidates": found,
        "encoders": mining.encoders,
        "fusion": mining.fusion,
        "text": mining.text_option,
        "left_out": len(left_out_of(mining)),
        "recovered": mining.recovered,
        "approximate": mining.approximate,
        "recall": mining.recall,
        "asked": mining.asked,
    }


def describe_mining(mining: Mining, found: int | None) -> str:
    if found is None:
        return (
            "Other workers are at the rest of this mining, and the last one closes it. If they were killed, "
            "run this again in five minutes."
        )
    how = f"by {mining.fusion} of {', '.join(mining.encoders)}; text: {mining.text_option}"
    left_out = len(left_out_of(mining))
    more = [how, describe_left_out(left_out) if left_out else ""]
    more += [mining.recovery, mining.searched if mining.approximate else ""]
    more += [asked_in_words(name, told) for name, told in (mining.asked or {}).items()]
    return "\n".join([count_noun(found, "candidate"), *(line for line in more if line)])
