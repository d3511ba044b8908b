"""How a run may end, and how a case of it may."""

from enum import StrEnum


class Outcome(StrEnum):
    """How a run ended. UNAVAILABLE means that nothing can be said: the run is repeated, never counted.

    UNTESTED: it ended well without testing anything, because no assertion touched the candidate.
    UNPROVEN: its assertions held, but what touches the candidate holds only by the candidate's own word: by
    an operation, such as a comparison, that one of its classes decided, or since it changed what its result
    is compared with. It neither passed nor failed.
    NOT_APPLICABLE: the program was written for another candidate, and its arguments do not fit this one.
    """

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    UNTESTED = "untested"
    UNPROVEN = "unproven"
    NOT_APPLICABLE = "not_applicable"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_OVERFLOW = "output_overflow"
    DEPENDENCY_REFUSED = "dependency_refused"
    UNAVAILABLE = "unavailable"

    @property
    def is_evidence(self) -> bool:
        """Whether this tells something about the program, rather than about the machine."""
        return self is not Outcome.UNAVAILABLE


class CaseOutcome(StrEnum):
    """How a case ended. HELD: it returned and none of its assertions failed; EMPTY: it evaluated none.

    KILLED: its process ended before it returned: by a signal, by `os._exit`, or without a word.
    """

    HELD = "held"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    KILLED = "killed"
    NOT_RUN = "not_run"
    EMPTY = "empty"


class OwnWord(StrEnum):
    """Whether an assertion held by the candidate's own word, as the harness says it.

    CLASS: an operation that one of its classes decided led to it. FEIGNED: such a class stood there for a
    value of a built-in type, or it does not hold with what the candidate changed put back; no other assertion
    makes up for that.
    """

    NONE = ""
    CLASS = "class"
    FEIGNED = "feigned"
