"""Makes one sandbox after another by forking, where starting Python anew for each would take longer.

It is started from an empty environment and reads neither a request nor a result: the ends of the pipes that
carry them come through a socket and are handed on unread. One sandbox at a time; each is a process 1 in
namespaces of its own, and all of it is gone before the next one is made.
"""

from __future__ import annotations

import _socket
import gc
import os
import sys

from sandbox.harness import supervisor
from sandbox.harness.namespaces import arrange_namespaces, clone_into_namespaces, give_up_rights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RULES = "/harness/seccomp.bpf"
_PACKAGES = "/packages"
_DESCRIPTOR_BYTES = 4
ENDED = b"."


def main() -> None:
    """Serve on the socket that the first argument names until the other side closes it.

    Further arguments: bytes of /tmp, a library to load ahead or nothing, names of the protections.
    """
    supervisor.prepare()
    os.chdir("/")
    link, tmp_bytes = _socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    library, protections = sys.argv[3], frozenset(sys.argv[4:])
    del sys.modules["_socket"]
    with open(_RULES, "rb") as file:
        rules = file.read()
    if library:
        _load_ahead(library)
    gc.freeze()
    while pipes := _received(link):
        child = clone_into_namespaces(protections)
        if child == 0:
            _become_sandbox(pipes, tmp_bytes, rules, protections)
        for descriptor in pipes:
            os.close(descriptor)
        os.waitpid(child, 0)
        link.send(ENDED)


def _load_ahead(library: str) -> None:
    """Import what the programs of this server import first; all that it starts must be here after a fork."""
    sys.path.append(_PACKAGES)
    __import__(library)
    sys.path.remove(_PACKAGES)
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError(f"{library} starts threads, which no fork would have")


def _received(link: Any) -> tuple[int, ...]:
    """The ends of the next two pipes; none at the end."""
    told, parts, _, _ = link.recvmsg(1, _socket.CMSG_SPACE(2 * _DESCRIPTOR_BYTES))
    data = b"".join(part for _, _, part in parts)
    places = range(0, len(data), _DESCRIPTOR_BYTES) if told else ()
    return tuple(int.from_bytes(data[place : place + _DESCRIPTOR_BYTES], sys.byteorder) for place in places)


def _become_sandbox(
    pipes: tuple[int, ...], tmp_bytes: int, rules: bytes, protections: frozenset[str]
) -> None:
    try:
        for target, source in enumerate(pipes):
            os.dup2(source, target)
        os.closerange(3, 1024)
        arrange_namespaces(tmp_bytes, protections)
        give_up_rights(rules, protections)
        _draw_anew()
        supervisor.serve()
    except BaseException as error:
        os.write(2, f"fork server: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(70)


def _draw_anew() -> None:
    """A library that was loaded ahead has drawn its random state; no two runs have the same."""
    random = sys.modules.get("numpy.random")
    if random is not None:
        random.seed()
