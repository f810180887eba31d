"""Numbers that are looked at when they have arrived from their device, so that nothing waits for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class Late:
    """A check of numbers: at once on the CPU; on a GPU a few calls later.

    Args:
        check: takes the numbers as a list, then what else was said of them, and raises what is wrong with them.
    """

    def __init__(self, check: Callable[..., None]) -> None:
        self.check = check
        self._coming: deque[tuple[Tensor, Any, tuple[Any, ...]]] = deque()

    def put(self, numbers: Tensor, *about: Any) -> None:
        """Look at `numbers`, one axis, and before at all that have arrived. What a CUDA graph captures is left out."""
        self.look()
        if numbers.device.type != "cuda":
            self.check(numbers.tolist(), *about)
        elif not torch.cuda.is_current_stream_capturing():
            arrived = torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True)
            arrived.copy_(numbers, non_blocking=True)
            event = torch.cuda.Event()
            event.record(torch.cuda.current_stream(numbers.device))
            self._coming.append((arrived, event, about))

    def look(self, *, wait: bool = False) -> None:
        """Look at those that have arrived, in their order; with `wait`, at all."""
        while self._coming and (wait or self._coming[0][1].query()):
            numbers, event, about = self._coming.popleft()
            event.synchronize()
            self.check(numbers.tolist(), *about)
