"""A provider of the Messages protocol in a process of its own, which takes as long as a real one: a script.

    python -P bench/pipeline/provider.py --seed 7

It prints its port and serves until its standard input ends. Latencies are log-normal with a mean of one
second; what is said depends on the question alone, so that every path is taken: 67 of 100 pairs are clear, of
the test programs one in 50 redefines the candidate and one in 50 lacks a module, and one reply in 100 is no
JSON. `GET /stats` tells how many were answered and the seconds that they took. It needs nothing but Python.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import re
import sys
from typing import Any, Final

MEAN_SECONDS: Final = 1.0
ELSEWHERE: Final = 19
"""What `nice` gives it: a real provider takes nothing of this machine's processors from a page."""
SIGMA: Final = 0.5
MODULE: Final = "bench_colours"
"""No distribution has this name: the fixer has to be asked."""
Json = dict[str, Any]


class Provider:
    """Answers requests, each after its own while."""

    def __init__(self, seed: int, mean: float) -> None:
        self.random = random.Random(seed)
        self.scale = mean
        self.answered = 0
        self.seconds = 0.0
        self.in_the_air = 0
        self.most = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, kept open."""
        try:
            while head := await self.head(reader):
                length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
                raw = await reader.readexactly(int(length.group(1))) if length else b""
                body = self.stats() if head.startswith(b"GET") else await self.answer(json.loads(raw))
                writer.write(build_provider_response(json.dumps(body).encode(), self.answered))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def head(self, reader: asyncio.StreamReader) -> bytes:
        try:
            return await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return b""

    def stats(self) -> Json:
        return {"answered": self.answered, "seconds": self.seconds, "most": self.most}

    async def answer(self, request: Json) -> Json:
        # The mean of a log-normal variable is exp(mu + sigma²/2).
        seconds = self.scale * self.random.lognormvariate(-SIGMA * SIGMA / 2, SIGMA)
        self.in_the_air += 1
        self.most = max(self.most, self.in_the_air)
        await asyncio.sleep(seconds)
        self.in_the_air -= 1
        self.answered += 1
        self.seconds += seconds
        return build_reply_message(request, compose_reply_text(request), self.answered)


def compose_reply_text(request: Json) -> str:
    """The reply's text."""
    schema = request["output_config"]["format"]["schema"]["properties"]
    turns = [turn["content"] for turn in request["messages"]]
    number = int.from_bytes(hashlib.sha256(turns[0].encode()).digest()[:4])
    if "commands" in schema:
        return json.dumps({"commands": [f"pip install {MODULE}"]})
    if "program" in schema:
        return json.dumps(test_program(turns[0], number, plain="reading" in schema))
    if "share" in schema:
        share = "all" if number % 100 < 80 else "most"
        return json.dumps({"demands": ["sort a list"], "evidence": f"Pair {number} sorts.", "share": share})
    if "difference" in schema:
        code = f"def {name_in(turns[0])}(values):\n    return None\n"
        return json.dumps({"difference": f"gives nothing back, as in {number}", "code": code})
    if number // 100 % 100 == 1 and len(turns) == 1:
        return "I would say that it depends."
    if 0.5 in schema["verdict"]["enum"]:
        verdict = 0.5 if number % 100 >= 67 else int(number % 100 < 14)
    else:
        verdict = int(number % 100 < 87)
    sentence = "It takes a list and a step, and gives back a list of the same kind, sorted by its step. "
    return json.dumps({"explanation": f"Pair {number}. {sentence * 3}", "verdict": verdict})


def name_in(asked: str) -> str:
    found = re.search(r"def (\w+)", asked)
    return found.group(1) if found else "print"


def test_program(asked: str, number: int, *, plain: bool) -> Json:
    """A test of four cases, as the usual writer's or as the paper's."""
    name = name_in(asked)
    special = "" if "redefines the candidate" in asked else SPECIAL.get(number % 50, "").format(name=name)
    if not plain:
        return test_cases(name, number, special)
    cases = "".join(
        f"    # case {case}\n    values = {[number % (7 + case), case, 3, 9]}\n    found = {name}(values)\n"
        f"    assert isinstance(found, list), 'case {case} of {number}'\n"
        f"    assert len(found) <= len(values)\n"
        for case in range(1, 5)
    )
    program = f"{special}def main():\n{cases}\n\nmain()\n"
    return {"reading": f"sorts what it is given, as in {number}", "helpers": [], "program": program}


def test_cases(name: str, number: int, special: str) -> Json:
    """Four cases that run each by itself, with a reference."""
    cases = "".join(
        f"def r1_ordinary_case_{case}():\n    values = {[number % (7 + case), case, 3, 9]}\n"
        f"    found = {name}(values)\n    assert isinstance(found, list), 'case {case} of {number}'\n"
        f"    assert len(found) <= len(values)\n\n\n"
        for case in range(1, 5)
    )
    return {
        "readings": [{"sense": f"sorts what it is given, as in {number}", "likelihood": 90}],
        "helpers": [],
        "program": f"{special}{cases}",
        "reference": f"def {name}(values):\n    return sorted(values)\n",
    }


SPECIAL: Final = {0: "def {name}(values):\n    return values\n\n\n", 1: f"import {MODULE}\n\n\n"}


def build_reply_message(request: Json, text: str, number: int) -> Json:
    return {
        "id": f"msg_{number:08d}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": len(json.dumps(request["messages"])) // 4, "output_tokens": len(text) // 4},
    }


def build_provider_response(body: bytes, number: int) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nrequest-id: req_{number}\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


async def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the Messages protocol at the pace of a provider.")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--mean", type=float, default=MEAN_SECONDS)
    arguments = parser.parse_args()
    os.nice(ELSEWHERE)
    provider = Provider(arguments.seed, arguments.mean)
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    # What is still being thought about is for nobody.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
