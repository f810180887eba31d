"""Random numbers of data that depend on what is drawn (seed, epoch, index), never on which process draws it."""

from __future__ import annotations

import torch

_MASK = (1 << 64) - 1


def mix(*words: int) -> int:
    """Hash whole numbers, in their order, into 63 bits (the splitmix64 finaliser, chained).

    Neighbouring inputs give unrelated outputs; equal inputs give equal outputs on every machine and Python.
    """
    state = 0
    for word in words:
        state = (state + (word & _MASK) + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state >> 1


def generator(*words: int) -> torch.Generator:
    """A fresh CPU generator seeded by `mix(*words)`, for instance `generator(seed, epoch, index)`."""
    # torch seeds its CPU generator from the low 32 bits alone, so these have to be well mixed
    return torch.Generator().manual_seed(mix(*words) & 0xFFFFFFFF)


def permutation(count: int, *words: int) -> torch.Tensor:
    """A random order of `range(count)`, int64 `(count,)`, the same for the same words."""
    return torch.randperm(count, generator=generator(*words))


def uniform(rng: torch.Generator, low: float = 0.0, high: float = 1.0) -> float:
    """One number from [low, high)."""
    return low + (high - low) * float(torch.rand((), generator=rng, dtype=torch.float64))


def integer(rng: torch.Generator, low: int, high: int) -> int:
    """One whole number from low, ..., high - 1."""
    return int(torch.randint(low, high, (), generator=rng))
