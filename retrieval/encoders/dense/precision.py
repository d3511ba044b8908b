"""Whether a transformer runs faster in bfloat16 on this machine: timed, not assumed.

Matrix products take bfloat16 and sum in float32; norms, softmax and the sums between layers stay float32
(torch's autocast), so that vectors keep a cosine above 0.9999 with those of float32.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from torch import Tensor

Precision: TypeAlias = Literal["fp32", "bf16"]

TEXTS, TOKENS, TIMES = 4, 64, 3
WORTH = 0.8
"""bfloat16 is chosen where it takes at most this share of float32's time: a busy moment must not decide."""

SMALLEST_DIMENSION = 128
"""Models with shorter vectors are so small that nothing is gained."""

FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
CPUINFO = Path("/proc/cpuinfo")


def multiplies_bf16() -> bool:
    """Whether the processor has instructions for products of bfloat16, or a graphics card does it."""
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    if not CPUINFO.exists():
        return False
    lines = (
        line for line in CPUINFO.read_text("utf-8").splitlines() if line.startswith(("flags", "Features"))
    )
    return bool(FLAGS & set(next(lines, "").split()))


def running_in(precision: Precision, device: str) -> AbstractContextManager[object]:
    """What a model's forward pass runs in."""
    import torch

    return torch.autocast(device, dtype=torch.bfloat16) if precision == "bf16" else nullcontext()


def choose_faster_precision(forward: Callable[[Tensor, Precision], object]) -> Precision:
    """The precision in which `forward`, given token ids of shape (texts, tokens), takes clearly less time."""
    import torch

    if not multiplies_bf16():
        return "fp32"
    ids = torch.full((TEXTS, TOKENS), 5, dtype=torch.long)
    plain, short = _seconds(partial(forward, ids, "fp32")), _seconds(partial(forward, ids, "bf16"))
    return "bf16" if short <= WORTH * plain else "fp32"


def _seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(1 + TIMES):  # the first one prepares
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times[1:])
