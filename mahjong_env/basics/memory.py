"""Free memory, as far as the system reports it."""

from __future__ import annotations

import os
from pathlib import Path


def free_memory() -> int | None:
    """Return the number of bytes that this process may still take; None where the system does not report it."""
    limits = [number for number in (_free_of_machine(), free_of_group()) if number is not None]
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


def free_of_group(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the bytes that the control group (a container, a batch job) has left; cached files count as free."""
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


def size_text(number: int) -> str:
    """Return a number of bytes in words, such as "1.5 GiB"."""
    for unit, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20)):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number} bytes"
