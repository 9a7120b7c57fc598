"""How much memory is free, and whether something fits into it: what cannot is refused before it is begun."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mahjong_env.basics.errors import MahjongError

_ADDRESSABLE: Final = 2**47
"""What a process can have at most, where the system does not say what is free."""


def check_memory(parts: Mapping[str, int], error: type[MahjongError] = MahjongError) -> None:
    """Check that something fits into the memory that is free.

    Args:
        parts: for each thing that takes memory, named by what sets its size: bytes.
        error: the class of the error to raise.

    Raises:
        MahjongError: it does not fit; the message says what it would take, what for, and what is free.
    """
    free, needed = free_memory(), sum(parts.values())
    free = _ADDRESSABLE if free is None else free
    if needed <= free:
        return
    largest = max(parts, key=lambda name: parts[name])
    of_it = "" if len(parts) == 1 else f", {memory_text(parts[largest])} of it"
    raise error(
        f"this would take about {memory_text(needed)} of memory{of_it} for {largest}; {memory_text(free)} is free"
    )


def free_memory() -> int | None:
    """The bytes that this process may still take, as far as the system tells; None if it does not."""
    limits = [number for number in (_free_of_machine(), _free_of_group()) if number is not None]
    return min(limits, default=None)


def _free_of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return None


def _free_of_group(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """What the control group (a container, a batch job) leaves; files that are cached do not count."""
    for limit, used, cached in (
        ("memory.max", "memory.current", "inactive_file "),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file "),
    ):
        try:
            allowed = int((root / limit).read_text(encoding="ascii"))
            taken = int((root / used).read_text(encoding="ascii"))
            statistics = (root / limit).with_name("memory.stat").read_text(encoding="ascii").splitlines()
            reclaimable = sum(int(line.split()[1]) for line in statistics if line.startswith(cached))
        except (OSError, ValueError):
            continue
        return max(0, allowed - taken + reclaimable)
    return None


def memory_text(number: int) -> str:
    """A number of bytes as text, such as "1.5 GiB"."""
    for unit, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20)):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number} bytes"
