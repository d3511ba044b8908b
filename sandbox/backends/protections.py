"""What stands around a run, one by one. All are in force; a test takes one away to show what only it stops.

The limits of a run (time, memory, processes, output, file sizes, temporary space) are protections too, but
they are numbers: `Limits`.
"""

from enum import StrEnum


class Protection(StrEnum):
    """One measure of a backend, named for what it gives the program instead of the machine's own."""

    CPU = "cpu share"
    ENVIRONMENT = "own environment"
    FILES = "own files"
    INODES = "inode limit"
    NESTING = "no nested namespaces"
    NETWORK = "own network"
    NEW_PRIVILEGES = "no new privileges"
    PACKAGES = "read-only packages"
    PROCESSES = "own processes"
    PROCESS_1 = "harness as process 1"
    READ_ONLY = "read-only root"
    RIGHTS = "no rights"
    SYSTEM_CALLS = "system call filter"


ALL = frozenset(Protection)
