"""What becomes of memory that tensors on the CPU give back."""

import ctypes
import os
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's malloc.h
MOST_KEPT, LARGEST = 2**31 - 1, 2**25
"""Bytes kept, and the largest block among them: larger ones, kept, would leave gaps that nothing fits into."""
CHOICES = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


def keep_freed_memory() -> bool:
    """Have this process keep freed memory for its next tensors, instead of returning it and getting empty pages again.

    A training step frees and asks for the same blocks over and over, and new pages can cost a third of it
    (docs/performance.md). The process does not shrink between peaks, which may rise by a tenth.

    Returns:
        Whether it was done: not without glibc, and not where the environment says how its allocator should work.
    """
    if not sys.platform.startswith("linux") or any(name in os.environ for name in CHOICES):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    # Setting either threshold freezes the other, so both are set.
    return bool(mallopt(MMAP_THRESHOLD, LARGEST) and mallopt(TRIM_THRESHOLD, MOST_KEPT))
