"""Keeps a share of one processor busy and nothing else, until standard input ends; started by its path."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Final

PERIOD_SECONDS: Final = 0.01


def main() -> None:
    os.nice(int(sys.argv[2]))
    threading.Thread(target=keep_processor_busy, args=[float(sys.argv[1])], daemon=True).start()
    sys.stdin.read()
    os._exit(0)


def keep_processor_busy(share: float) -> None:
    while True:
        ends = time.perf_counter() + share * PERIOD_SECONDS
        while time.perf_counter() < ends:
            pass
        time.sleep((1 - share) * PERIOD_SECONDS)


if __name__ == "__main__":
    main()
