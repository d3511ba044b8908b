#!/usr/bin/env python
"""The command line of CoSQA Workbench; `manage.py help` lists the commands."""

import os
import select
import sys
from traceback import clear_frames

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

STARTING = {"account", "again", "agreement", "benchmark", "build", "evaluate", "exchange", "export", "extend"}
STARTING |= {
    "compare-benchmarks",
    "contamination",
    "corpus",
    "distractors",
    "fill-holes",
    "filters",
    "import",
    "leaderboard",
    "merge",
    "mine",
}
STARTING |= {"init", "missing", "pin", "prices", "reproduce", "rerank", "review", "similarity"}
STARTING |= {"status", "study", "token", "train", "work"}
"""Commands that use the database, so each may be somebody's first one: they find it up to date."""


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
    try:
        if sys.argv[1:2] and sys.argv[1] in STARTING and not {"-h", "--help"} & set(sys.argv):
            make_ready()
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except ImproperlyConfigured as wrong:  # says it all; a traceback would hide it
        end(str(wrong))
    except BrokenPipeError:
        if not reader_left():
            raise
        sys.exit(1)
    except Exception as fault:
        end_for(fault)
        raise


def end_for(fault: Exception) -> None:
    """End in one line where the disk is full, or the database's file can't be used; else do nothing."""
    from retrieval.disk_space import EXIT_STATUS, describe_full_disk, is_full_disk

    if is_full_disk(fault):
        clear_frames(fault.__traceback__)  # a cursor that is open in one of them complains at the end
        end(describe_full_disk(fault, "COSQA_HOME"), EXIT_STATUS)
    from cosqa_site.service.startup import describe_fault

    if told := describe_fault(fault):
        end(told)


def end(message: str, status: int = 1) -> None:
    """End in one line, and as an object where `--json` is asked for."""
    from retrieval.management.failures import end_command

    end_command(message, sys.argv, status)


def reader_left() -> bool:
    """Whether nobody reads what is printed any more, as after `| head`; what is left to print is let go."""
    output = select.poll()
    output.register(sys.stdout, 0)
    gone = any(what & select.POLLERR for _, what in output.poll(0))
    if gone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return gone


def make_ready() -> None:
    """Have the database brought up to date, or end and say why it is not."""
    django.setup()
    from cosqa_site.service.applied_migrations import DatabaseNotReady
    from cosqa_site.service.startup import make_ready

    try:
        make_ready()
    except DatabaseNotReady as why:
        end(str(why))


if __name__ == "__main__":
    main()
