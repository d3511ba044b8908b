"""`python -m sandbox`: run one program, see what protects it, build the image, clear up after callers."""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from sandbox.backends.checks import find_missing_protections, require_protections
from sandbox.backends.repeats import run_times
from sandbox.expression_call import CALL_LIMITS, Answer, BadExpression, Call, CallOutcome
from sandbox.imports import Need, functions_in, measure_import_coverage
from sandbox.pip_install import PipSettings, machine_settings
from sandbox.program import Limits, Program, list_test_functions
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome
from sandbox.runner import Backend, Sandbox, SandboxUnavailable, open_sandbox

_COULD_NOT_RUN = 2


class UnknownCase(Exception):
    """A program has no such case; the message says which, and which it could have."""


@dataclass(frozen=True)
class Machine:
    """Where the commands work: with what this machine has, unless an installation has settings of its own."""

    home: Path
    docker_host: str = field(default_factory=lambda: os.environ.get("DOCKER_HOST", ""))

    def open(self, backend: Backend) -> Sandbox:
        """See open_sandbox."""
        environment, files = machine_settings(os.environ)
        return open_sandbox(
            backend,
            self.home,
            docker_host=self.docker_host,
            pool=0,
            pip_environment=environment,
            pip_files=files,
        )


def main(
    arguments: list[str] | None = None, program: str = "python -m sandbox", machine: Machine | None = None
) -> int:
    """Exit status: 0 whatever the program did, 1 when a required check fails, 2 when nothing could be run."""
    options = _parser(program, asks_home=machine is None).parse_args(arguments)
    machine = machine or Machine(options.home)
    try:
        if options.command == "images":
            return _images(options, machine)
        sandbox = machine.open(options.backend)
        try:
            status: int = options.action(sandbox, options)
            return status
        finally:
            sandbox.close()
    except (SandboxUnavailable, BadExpression, UnknownCase, OSError) as error:
        print(f"sandbox: {error}", file=sys.stderr)
        return _COULD_NOT_RUN


def _parser(program: str, asks_home: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=(__doc__ or "").partition(": ")[2])
    if asks_home:
        parser.add_argument("--home", type=Path, default=Path("var/sandbox"), help="where packages are kept")
    commands = parser.add_subparsers(dest="command", required=True)
    backend = argparse.ArgumentParser(add_help=False)
    backend.add_argument("--backend", default="auto", choices=("auto", "bubblewrap", "docker"))
    backend.add_argument("--json", action="store_true", help="print one JSON object")
    run = commands.add_parser("run", parents=[backend], help="run one program and print its report")
    run.add_argument("program", type=Path)
    run.add_argument("--candidate", type=Path, help="the code under test")
    run.add_argument("--timeout", type=float, default=Limits().seconds, metavar="S")
    run.add_argument("--install", nargs="*", default=[], metavar="NAME[==VERSION]")
    run.add_argument("--as", dest="name", default="", help="the name that the program has for the candidate")
    run.add_argument(
        "--times", type=int, default=1, metavar="N", help="run it N times, and say if it is flaky"
    )
    run.add_argument(
        "--cases", default="", metavar="NAME,NAME", help="functions that run each by itself, not as a whole"
    )
    run.set_defaults(action=_run)
    call = commands.add_parser("call", parents=[backend], help="print the value of an expression")
    call.add_argument("candidate", type=Path, metavar="CODE.py")
    call.add_argument("expression", help="such as 'f(1)'")
    call.add_argument("--timeout", type=float, default=CALL_LIMITS.seconds, metavar="S")
    call.add_argument("--install", nargs="*", default=[], metavar="NAME[==VERSION]")
    call.set_defaults(action=_call)
    check = commands.add_parser("check", parents=[backend], help="show the protections that are in force")
    check.set_defaults(action=_check)
    reap = commands.add_parser("reap", parents=[backend], help="remove what dead callers left behind")
    reap.set_defaults(action=_reap)
    images = commands.add_parser("images", help="the image of the Docker backend").add_subparsers(
        dest="what", required=True
    )
    images.add_parser("build", help="build it and print its id")
    covered = images.add_parser("coverage", help="show what of the modules that functions need it has")
    covered.add_argument("files", nargs="+", type=Path, metavar="FILE", help="functions: .py, or JSON")
    covered.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _run(sandbox: Sandbox, options: argparse.Namespace) -> int:
    require_protections(sandbox.check())
    candidate = options.candidate.read_text() if options.candidate else ""
    source = options.program.read_text()
    cases = _cases(options.cases, source)
    program = Program(candidate, source, tuple(options.install), name=options.name, cases=cases)
    report = run_times(sandbox, program, Limits(seconds=options.timeout), options.times)
    print(report.to_json() if options.json else canonical_text(report))
    return _COULD_NOT_RUN if report.outcome is Outcome.UNAVAILABLE else 0


def _cases(wanted: str, source: str) -> tuple[str, ...]:
    """The names of cases in a comma-separated list; raises UnknownCase for one that is no function's."""
    cases = tuple(filter(None, (name.strip() for name in wanted.split(","))))
    defined = list_test_functions(source)
    unknown = [name for name in cases if name not in defined]
    if unknown:
        known = f"it has {', '.join(defined)}" if defined else "it has none"
        raise UnknownCase(f"the program defines no function {', '.join(unknown)} at its top level: {known}")
    return cases


def _call(sandbox: Sandbox, options: argparse.Namespace) -> int:
    require_protections(sandbox.check())
    call = Call(options.candidate.read_text(), options.expression, tuple(options.install))
    answer = sandbox.call(call, replace(CALL_LIMITS, seconds=options.timeout))
    print(answer.to_json() if options.json else "\n".join(_told(answer)))
    return _COULD_NOT_RUN if answer.outcome is CallOutcome.UNAVAILABLE else 0


def _told(answer: Answer) -> Iterator[str]:
    yield from (text.rstrip("\n") for text in (answer.stdout, answer.stderr) if text)
    if answer.value is not None:
        yield answer.value
    elif answer.raised:
        yield f"{answer.raised.type}: {answer.raised.message}"
        yield from (
            f"  {frame.place} line {frame.line}: {frame.source}"
            for frame in answer.raised.frames
            if frame.place != "library"
        )
    else:
        yield f"{answer.outcome}: {answer.detail}"
    yield from (f"suspicious: {sign}" for sign in answer.suspicious)


def _check(sandbox: Sandbox, options: argparse.Namespace) -> int:
    checks = sandbox.check()
    lacking = find_missing_protections(checks)
    if options.json:
        told = {"backend": sandbox.name, "image": sandbox.image, "ok": not lacking}
        print(json.dumps({**told, "checks": [asdict(check) for check in checks]}))
        return int(bool(lacking))
    print(f"{sandbox.name}, image {sandbox.image}")
    for check in checks:
        print(f"{'ok  ' if check.ok else 'FAIL' if check.required else 'note'}  {check.name}: {check.found}")
        if check.advice:
            print(f"      {check.advice}")
    print(
        "A required protection is missing: nothing is executed here."
        if lacking
        else "All that is required holds."
    )
    return int(bool(lacking))


def _reap(sandbox: Sandbox, options: argparse.Namespace) -> int:
    removed = sandbox.reap()
    print(json.dumps({"removed": removed}) if options.json else f"removed {removed}")
    return 0


def _images(options: argparse.Namespace, machine: Machine) -> int:
    if options.what == "coverage":
        return _coverage(options)
    from sandbox.backends.docker import build_image

    print(build_image(machine.docker_host, PipSettings(*machine_settings(os.environ))))
    return 0


def _coverage(options: argparse.Namespace) -> int:
    found = measure_import_coverage(text for path in options.files for text in functions_in(path))
    if options.json:
        print(json.dumps({"functions": found.functions, "needs": found.needs, "lacking": found.lacking}))
        return 0
    print(f"{found.functions} functions")
    for need, count in found.needs.items():
        print(f"{count:8} {found.share(need):7.1%}  {need}")
    print(f"{found.share(Need.STANDARD, Need.IMAGE):16.1%}  nothing has to be installed")
    most = [f"{module} {count}" for module, count in list(found.lacking.items())[:20]]
    print("most wanted of the rest:", ", ".join(most) or "nothing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
