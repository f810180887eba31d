"""A small image-to-image network that learns to return its input; DeepAugment disturbs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Disturbance = Callable[[int, Tensor], Tensor]
"""(number of the layer, its output (B, C, H, W)) -> what goes on."""


class ImageToImage(nn.Module):
    """Half resolution, a few residual layers, and back: `(B, 3, H, W)` RGB in [0, 1] -> the same, any H and W.

    Args:
        width: channels of the hidden layers.
        depth: residual layers.
    """

    def __init__(self, width: int = 32, depth: int = 4) -> None:
        super().__init__()
        self.enter = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.body = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(depth))
        self.leave = nn.Conv2d(width, 3 * 2**2, 3, padding=1)

    def forward(self, rgb: Tensor, disturb: Disturbance | None = None) -> Tensor:
        """Values may leave [0, 1].

        Args:
            disturb: changes the output of every layer but the last, if given.
        """
        height, width = rgb.shape[-2:]
        features = self.enter(F.pad(rgb - 0.5, (0, width % 2, 0, height % 2), mode="replicate"))
        features = features if disturb is None else disturb(0, features)
        for number, layer in enumerate(self.body, start=1):
            change = layer(F.relu(features))
            features = features + (change if disturb is None else disturb(number, change))
        return F.pixel_shuffle(self.leave(F.relu(features)), 2)[..., :height, :width] + 0.5


def train(network: ImageToImage, batches: Iterable[Tensor], learning_rate: float = 2e-3) -> float:
    """Teach `network` to return its input.

    Args:
        batches: `(B, 3, H, W)`, RGB in [0, 1]; one step each.

    Returns:
        the root-mean-square error over the last tenth of the steps, RGB in [0, 1].

    Raises:
        ValueError: no batches.
    """
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    losses = []
    for batch in batches:
        loss = F.mse_loss(network(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if not losses:
        raise ValueError("the autoencoder needs at least one batch to train on")
    last = losses[-max(1, len(losses) // 10) :]
    return (sum(last) / len(last)) ** 0.5
