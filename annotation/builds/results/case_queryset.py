"""How far a case came, told from its own row: no step has to be looked at."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from django.db.models import Q

from annotation.stages import Stage
from retrieval.models import Basis


def filter_beyond_stages(*stages: Stage) -> Q:
    """Cases that are in one of these stages, or were abandoned there, or were settled after a test."""
    named = [stage.value for stage in stages]
    tested = Q(stage=Stage.SETTLED, program__isnull=False)
    return Q(stage__in=named) | Q(stage=Stage.ABANDONED, left_stage__in=named) | tested


TESTED: Final = Q(stage=Stage.SETTLED, program__isnull=False)
CLEAR: Final = Q(stage=Stage.SETTLED, program__isnull=True)
JUDGED_AFTER_TEST: Final = (Stage.ARBITRATING, Stage.TIE_BREAKING)
TESTED_IN: Final = (Stage.EXECUTING, Stage.FIXING, *JUDGED_AFTER_TEST)
UNCLEAR: Final = filter_beyond_stages(Stage.READING, Stage.WRITING_TEST, *TESTED_IN)
READ: Final = filter_beyond_stages(Stage.WRITING_TEST, *TESTED_IN)
EXECUTED: Final = filter_beyond_stages(*JUDGED_AFTER_TEST)
SECOND: Final = EXECUTED & Q(execution__isnull=False, tested_again=True)
REACHING: Final[Mapping[str, Q]] = MappingProxyType(
    {
        "screened": CLEAR | UNCLEAR,
        "clear": CLEAR,
        "unclear": UNCLEAR,
        "read": READ & Q(annotator__config__reader=True),
        "written": filter_beyond_stages(*TESTED_IN),
        "executed": EXECUTED,
        "second": SECOND,
        "second_tested": SECOND & Q(execution__touched=True),
        "fixed": Q(execution__isnull=False) & ~Q(missing_module=""),
        "arbitrated": TESTED,
        "disputed": Q(basis=Basis.DISPUTED) | Q(stage=Stage.TIE_BREAKING) | Q(left_stage=Stage.TIE_BREAKING),
    }
)
"""Cases by what has become of them."""
