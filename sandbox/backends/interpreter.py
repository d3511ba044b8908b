"""The Python that executes programs with bubblewrap, and the folder of harness files made for it."""

import hashlib
import json
import shutil
import subprocess
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from sandbox.protocol import SandboxUnavailable

# What test programs start through subprocess; the rest of /usr/bin stays away.
_TOOLS = (
    *(
        "sh",
        "awk",
        "basename",
        "base64",
        "cat",
        "cmp",
        "comm",
        "cp",
        "cut",
        "date",
        "diff",
        "dirname",
        "echo",
    ),
    *("env", "expr", "false", "find", "fold", "grep", "head", "id", "ln", "ls", "md5sum", "mkdir", "mktemp"),
    *(
        "mv",
        "nl",
        "od",
        "paste",
        "printf",
        "pwd",
        "rm",
        "rmdir",
        "sed",
        "seq",
        "sha1sum",
        "sha256sum",
        "sleep",
    ),
    *("sort", "stat", "tac", "tail", "tee", "test", "touch", "tr", "true", "uname", "uniq", "wc", "which"),
    *("whoami", "xargs", "yes"),
)

_TIME_ZONES = {"zoneinfo": Path("/usr/share/zoneinfo")}
_OLDEST = (3, 11)
_QUESTION = (
    "import json, os, sys; print(json.dumps([list(sys.version_info[:3]), os.path.realpath(sys.executable),"
    " os.path.dirname(os.__file__), sys.version]))"
)
_ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": "root:x:0:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python of this machine: version, real file of its executable, folder of its standard library."""

    version: tuple[int, int, int]
    executable: Path
    library: Path
    build: str

    def programs(self) -> dict[str, Path]:
        """The files that a sandbox has in /usr/bin, by their names there."""
        tools = {name: Path("/usr/bin", name) for name in _TOOLS}
        own = {"python": self.executable, "python3": self.executable}
        return own | {name: path for name, path in tools.items() if path.is_file()}

    def edition(self) -> str:
        """Another text once one of those files was replaced, or the time zones."""
        files = [*self.programs().items(), *_TIME_ZONES.items()]
        found = [(name, path.stat()) for name, path in files if path.exists()]
        return repr([(name, one.st_size, one.st_mtime_ns) for name, one in found])


def inspect_interpreter(path: Path = Path("/usr/bin/python3")) -> Interpreter:
    """Ask a Python what it is; raises SandboxUnavailable when there is none, or one older than 3.11."""
    command = [str(path), "-I", "-S", "-c", _QUESTION]
    try:
        answer = subprocess.run(command, capture_output=True, check=True, timeout=30, env={})
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(
            f"{path} does not run ({error}): install python3 (apt-get install python3)"
        ) from error
    version, executable, library, build = json.loads(answer.stdout)
    found = Interpreter((version[0], version[1], version[2]), Path(executable), Path(library), build)
    if found.version < _OLDEST:
        raise SandboxUnavailable(f"{path} is Python {found.version}; programs are executed by 3.11 or newer")
    return found


def harness_hash() -> str:
    """sha256 hex of the harness's source files."""
    digest = hashlib.sha256()
    for name, text in sorted(harness_files().items()):
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()


def write_harness(folder: Path, python: Path) -> None:
    """Fill `folder` with the harness, packed by the interpreter that will run it, and a minimal /etc."""
    package = folder / "sandbox"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    for name, text in harness_files().items():
        path = package / "harness" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "etc").mkdir()
    for name, text in _ETC.items():
        (folder / "etc" / name).write_text(text)
    command = [
        str(python),
        "-I",
        "-S",
        "-B",
        "-X",
        "no_debug_ranges",
        str(package / "harness" / "bundle.py"),
        str(folder),
    ]
    subprocess.run(command, check=True, timeout=60, env={})
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def write_programs(folder: Path, python: Interpreter) -> None:
    """Copy what a sandbox has in /usr/bin, as `bin`, and of /usr/share: one folder is mounted the soonest."""
    (folder / "bin").mkdir()
    for name, path in python.programs().items():
        shutil.copy(path, folder / "bin" / name)
    for name, path in _TIME_ZONES.items():
        if path.is_dir():
            shutil.copytree(path, folder / name, symlinks=True)


def copy_pip(folder: Path) -> None:
    """Put the pip of the calling Python into `folder`; raises SandboxUnavailable when it has none."""
    import importlib.util

    spec = importlib.util.find_spec("pip")
    if spec is None or spec.origin is None:
        raise SandboxUnavailable("this Python has no pip to begin with: python -m ensurepip")
    shutil.copytree(Path(spec.origin).parent, folder / "pip", ignore=shutil.ignore_patterns("__pycache__"))


def harness_files() -> dict[str, str]:
    """The source of the harness by the path of the file below its folder."""
    folder = Path(str(files("sandbox.harness")))
    return {str(file.relative_to(folder)): file.read_text() for file in sorted(folder.rglob("*.py"))}
