"""Keeps freed memory of tensors on the CPU for the next training step."""

import ctypes
import os
import sys

TRIM_THRESHOLD, MMAP_MAX = -1, -4  # M_TRIM_THRESHOLD and M_MMAP_MAX of glibc's malloc.h
NEVER, NONE = -1, 0
CHOICES = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


def keep_freed_memory() -> bool:
    """Have this process keep freed memory for its next tensors, instead of returning it and getting empty pages again.

    A training step frees and asks for the same blocks over and over, and new pages can cost a third of it
    (docs/performance.md). The process does not shrink between peaks, which may rise by a tenth, with large maps by a quarter.

    Returns:
        Whether it was done: not without glibc, and not where the environment says how its allocator should work.
    """
    if not sys.platform.startswith("linux") or any(name in os.environ for name in CHOICES):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    # Large blocks would be mapped by themselves, and unmapped; others lie in one heap, whose end would be given back.
    return bool(mallopt(MMAP_MAX, NONE) and mallopt(TRIM_THRESHOLD, NEVER))
