"""torch's global generator, seeded from ours for the length of a call: other libraries' augmentations draw from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def global_rng_from(generator: torch.Generator) -> Iterator[None]:
    """Inside, torch's global CPU generator is seeded from `generator`; afterwards it is what it was before."""
    before = torch.get_rng_state()
    seed = int(torch.randint(2**32, (), generator=generator))
    # Not torch.manual_seed: that would also seed every accelerator.
    torch.default_generator.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(before)
