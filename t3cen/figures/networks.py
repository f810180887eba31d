"""Networks for figures, with the weights of a finished run where one is given, otherwise random ones, and saying which."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import t3cen
from t3cen.models import build
from t3cen.models.network import Network
from t3cen.training import final


def network(
    backbone: str,
    group: str,
    *,
    family: str = "t3cen",
    num_classes: int = 4,
    seed: int = 0,
    checkpoint: str | None = None,
    **options: Any,
) -> tuple[Network, str]:
    """A network in eval mode and a phrase for its weights, `"random weights"` or `"weights of <checkpoint>"`.

    Args:
        backbone, group, family, options: of `t3cen.models.build`.
        num_classes, seed: of a network with random weights.
        checkpoint: of a run of the same network (`checkpoints/final.ckpt`), or None.

    Raises:
        ValueError: the checkpoint is damaged, or of another network.
    """
    if checkpoint is None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return build(backbone, group, num_classes, family=family, **options).eval(), "random weights"
    saved, _ = final.read(Path(checkpoint))
    usual = {name: parameter.default for name, parameter in inspect.signature(build).parameters.items()}
    had = {**usual, **saved.arguments, "backbone": saved.backbone}
    for name, asked in {"backbone": backbone, "group": group, "family": family, **options}.items():
        if had[name] != asked:
            raise ValueError(f"{checkpoint} holds another network: its {name} is {had[name]!r}, {asked!r} asked for")
    return t3cen.load(checkpoint), f"weights of {checkpoint}"


def first_stage(made: Any) -> Callable[[Tensor], Tensor]:
    """The part of a ResNet that keeps the image's resolution: from a lifted image to feature maps `(B, G, C, H, W)`."""
    if not (hasattr(made, "stem") and hasattr(made, "stages")):
        raise ValueError(f"feature maps are drawn for ResNets, got {type(made).__name__}")

    def maps(lifted: Tensor) -> Tensor:
        return made.stages[0](made.stem(made.normalize(lifted)))

    return maps
