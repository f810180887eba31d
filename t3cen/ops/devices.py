"""What was measured of a kind of device and decides between implementations that agree to rounding: `measured.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch

FILE = Path(__file__).with_name("measured.json")
"""By the name of a device as PyTorch gives it. `cuda` stands for every GPU that has no entry, `cpu` for all else."""
PRODUCTS = ("matmul", "convolution", "separate")


class Measured(NamedTuple):
    """Of one kind of device.

    Attributes:
        least_width: `|G| sqrt(C C')` from which a layer of 3x3 is faster in the Fourier domain of the group.
        products: how a GPU multiplies there, one of `PRODUCTS`: batched matrices or a convolution for each (`gpu.py`), or
            PyTorch's convolution in groups, which a GPU that was not measured takes (docs/gpu.md).
    """

    least_width: float
    products: str


_TAKEN: list[Measured] = []


@torch._dynamo.assume_constant_result
def measured(device: torch.device) -> Measured:
    """What is known of this device."""
    if _TAKEN:
        return _TAKEN[-1]
    name = kind(device)
    known = everything()
    return known.get(name, known["cpu" if name == "cpu" else "cuda"])


@contextmanager
def taken_for(facts: Measured) -> Iterator[None]:
    """Have every device taken for one of which this was measured."""
    _TAKEN.append(facts)
    try:
        yield
    finally:
        _TAKEN.pop()


def kind(device: torch.device) -> str:
    """`cpu`, the name of a GPU, or `cuda` where there is none: a tracer's devices are not there."""
    if device.type != "cuda":
        return "cpu"
    return torch.cuda.get_device_name(device) if torch.cuda.is_available() else "cuda"


@cache
def everything() -> dict[str, Measured]:
    """The file.

    Raises:
        ValueError: an entry that no implementation understands.
    """
    found = {name: Measured(**facts) for name, facts in json.loads(FILE.read_text()).items()}
    for name, facts in found.items():
        if facts.products not in PRODUCTS or not facts.least_width > 0:
            raise ValueError(
                f"{FILE} says {facts} of {name!r}; products must be one of {', '.join(PRODUCTS)}, least_width above 0"
            )
    return found
