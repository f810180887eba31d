"""Does a group act on features as downsampling acts on images? The paper's reading of its scale group."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.nn import functional as F

from t3cen.nn.liftings.base import Lifting
from t3cen.testing import Action, equivariance_error


def downsampled(rgb: Tensor, factor: int = 2) -> Tensor:
    """The image `(B, 3, H, W)` with `1/factor` of its resolution, at its size: averaged, and read bilinearly again."""
    small = F.interpolate(rgb, scale_factor=1 / factor, mode="bilinear", antialias=True, align_corners=False)
    return F.interpolate(small, rgb.shape[-2:], mode="bilinear", align_corners=False).clamp(0, 1)


def downsampling_errors(
    lifting: Lifting, function: Callable[[Tensor], Tensor], rgb: Tensor, act: Action, factor: int = 2
) -> list[float]:
    """The normalised error between the features of the downsampled image and those of the image, moved by each element.

    0 at some element would be what the paper says of its figure; the least is at the identity where the group does nothing
    for it.

    Args:
        lifting: of the network.
        function: from a lifted image to features `(B, G, ...)`.
        rgb: `(B, 3, H, W)`, RGB in [0, 1].
        act: how an element of the lifting's group acts on features.
        factor: of the downsampling.

    Source: paper, "Application to scale equivariance".
    """
    small = downsampled(rgb, factor)
    elements = list(lifting.group.elements())

    def features(image: Tensor) -> Tensor:
        return function(lifting(image))

    found = equivariance_error(features, lifting.group, rgb, act_input=lambda *_: small, act_output=act, elements=elements)
    return [found.per_element[tuple(element)] for element in elements]
