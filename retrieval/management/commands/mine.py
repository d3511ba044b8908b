"""`manage.py mine ID [--fusion FUSION]`: perform one mining in this process; workers start it as a child."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from retrieval.encoders import MissingWeights, UnknownEncoder
from retrieval.fusion import Fusion
from retrieval.management import leash
from retrieval.mining import NothingToMine, Reporter, finish, perform
from retrieval.models import Mining


class Command(BaseCommand):
    help = "Perform one mining in this process and store its candidates."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("mining", type=int, help="id of the mining")
        parser.add_argument(
            "--fusion", choices=list(Fusion), help="how scores are fused from now on (default: as ordered)"
        )
        leash.add_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        leash.obey(options)
        mining = Mining.objects.select_related("queries", "snippets").filter(pk=options["mining"]).first()
        if mining is None:
            raise CommandError(f"There is no mining {options['mining']}.")
        if options["fusion"]:
            mining.fusion = options["fusion"]
            mining.save(update_fields=["fusion"])
        try:
            found = perform(mining, settings.COSQA_HOME / "vectors", Reporter(mining))
        except (NothingToMine, MissingWeights, UnknownEncoder) as why:
            finish(mining, Mining.State.FAILED, str(why))
            raise CommandError(str(why)) from why
        finish(mining, Mining.State.DONE)
        self.stdout.write(f"{found:,} candidates")
