"""Training losses: functions `(network, images, labels) -> scalar`, so that a loss may look at several views."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

Network = Callable[[Tensor], Tensor]


def cross_entropy(network: Network, images: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of the logits.

    Args:
        network: `(B, 3, H, W)` -> logits `(B, classes)`.
        images: `(B, 3, H, W)`.
        labels: `(B,)` class indices.

    Raises:
        TypeError: several views, of which it would see one only.
    """
    if not isinstance(images, Tensor):
        raise TypeError(f"cross_entropy takes one image each, got {len(images)} views; this augmentation needs jensen_shannon")
    return F.cross_entropy(network(images).float(), labels)


def jensen_shannon(network: Network, images: Sequence[Tensor], labels: Tensor, weight: float = 12.0) -> Tensor:
    """Cross-entropy of the clean view, plus `weight` times the Jensen-Shannon divergence of all views' predictions.

    Args:
        network: `(B, 3, H, W)` -> logits `(B, classes)`; it sees all views as one batch.
        images: the clean view first, then the others, each `(B, 3, H, W)`.
        labels: `(B,)` class indices.
        weight: of the divergence.

    Raises:
        TypeError: a single image, for which there is nothing to agree with.

    Source: Hendrycks et al., "AugMix", 2020 (arXiv 1912.02781), with its weight of 12.
    """
    if isinstance(images, Tensor) or len(images) < 2:
        raise TypeError("jensen_shannon compares several views of an image, got one; use it with augment=augmix")
    views = network(torch.cat(list(images))).float().chunk(len(images))
    return F.cross_entropy(views[0], labels) + weight * jensen_shannon_divergence(views)


def jensen_shannon_divergence(views: Sequence[Tensor]) -> Tensor:
    """Mean over batch and views of `KL(p_view || mean of all p)`, in nats; at most `log(number of views)`.

    Args:
        views: logits, each `(B, classes)`.

    Source: as above; the mixture is clamped to [1e-7, 1] before its logarithm.
    """
    logs = [F.log_softmax(logits, dim=1) for logits in views]
    mixture = torch.stack([log.exp() for log in logs]).mean(0).clamp(1e-7, 1).log()
    # From logarithms, because the gradient of p log p through p is infinite where p is 0.
    return torch.stack([F.kl_div(mixture, log, reduction="batchmean", log_target=True) for log in logs]).mean()
