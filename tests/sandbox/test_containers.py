"""What a container is allowed, as far as no engine is needed to see it; the rest is in test_backends.py."""

from sandbox.containers import Shape, install_container, run_container
from sandbox.program import Limits

SHAPE = Shape.of(Limits(processes=8))


def test_a_program_has_the_processes_of_its_limits_and_the_harness_one() -> None:
    assert run_container(SHAPE, "{}", "")["pids_limit"] == 9


def test_the_threads_of_gvisors_kernel_are_not_the_programs() -> None:
    assert run_container(SHAPE, "{}", "runsc")["pids_limit"] >= 1024 + 8
    assert install_container("{}", (), "runsc")["pids_limit"] >= 1024
