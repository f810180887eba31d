"""Networks for figures, with the weights of a finished run where one is given, otherwise random ones, and saying which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from t3cen.models import build
from t3cen.models.network import Network
from t3cen.training import sealed


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
        backbone, group, family, num_classes, options: of `t3cen.models.build`.
        seed: of the random weights.
        checkpoint: of a run of the same network (`checkpoints/final.ckpt`), or None.

    Raises:
        ValueError: the checkpoint is of another network.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = build(backbone, group, num_classes, family=family, **options)
    if checkpoint is None:
        return made.eval(), "random weights"
    load_weights(made, Path(checkpoint))
    return made.eval(), f"weights of {checkpoint}"


def load_weights(made: nn.Module, checkpoint: Path) -> None:
    """Put a training run's weights into a network of the same shape.

    Raises:
        ValueError: names or shapes of the weights do not agree, or the file is damaged.
    """
    prefix = "network."
    saved = sealed.load(checkpoint)["state_dict"]
    weights = {name.removeprefix(prefix): value for name, value in saved.items() if name.startswith(prefix)}
    try:
        made.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError(f"{checkpoint} holds the weights of another network: {error}") from error


def first_stage(made: Any) -> Callable[[Tensor], Tensor]:
    """The part of a ResNet that keeps the image's resolution: from a lifted image to feature maps `(B, G, C, H, W)`."""
    if not (hasattr(made, "stem") and hasattr(made, "stages")):
        raise ValueError(f"feature maps are drawn for ResNets, got {type(made).__name__}")

    def maps(lifted: Tensor) -> Tensor:
        return made.stages[0](made.stem(made.normalize(lifted)))

    return maps
