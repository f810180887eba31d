"""Z2CNN: the small network of Cohen & Welling (2016), on functions on a colour group."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from t3cen.models.network import ConvFactory, MaxPoolFactory, Network, NonlinearFactory, Normalize
from t3cen.models.registry import architecture
from t3cen.nn import GroupBatchNorm2d
from t3cen.nn.lifting import Lifting
from t3cen.nn.recompute import RecomputedSequential
from t3cen.nn.sequential import Sequential


@architecture("z2cnn", widths=[20])
class Z2CNN(Network):
    """Seven convolutions without padding: six of 3x3, the last of 4x4 to the classes.

    Batch norm and ReLU follow each but the last, 2x2 max-pooling the second; logits are pooled over the image and
    then over the group. Images of at least 28x28.

    Args:
        width: channels of every hidden layer, as they are (see `models.widths`).
        max_pool: max-pooling over the plane, from the side of its windows.
        others: as in `ResNet`.

    Source: paper, appendix "Hue shift MNIST"; Cohen & Welling, "Group equivariant convolutional networks", 2016.
    """

    smallest_image = 28

    def __init__(
        self,
        *,
        lifting: Lifting,
        stem: ConvFactory,
        conv: ConvFactory,
        nonlinear: NonlinearFactory,
        max_pool: MaxPoolFactory,
        pool: nn.Module,
        width: int,
        num_classes: int,
        mean: Sequence[float] = (0.5, 0.5, 0.5),
        std: Sequence[float] = (0.5, 0.5, 0.5),
        recompute: bool = False,
    ) -> None:
        super().__init__()
        self.lifting = lifting
        self.normalize = Normalize(mean, std)
        layers: list[nn.Module] = []
        starts = []
        for depth in range(6):
            starts.append(len(layers))
            layers += [conv(width, width, 3) if depth else stem(3, width, 3), GroupBatchNorm2d(width)]
            layers.append(nonlinear(nn.ReLU(inplace=True)))
            if depth == 1:
                layers.append(max_pool(2))
        self.layers = RecomputedSequential(*layers, starts=starts) if recompute else Sequential(*layers)
        self.channels = width
        self.classifier = conv(width, num_classes, 4, bias=True)
        self.pool = pool

    def trunk(self, lifted: Tensor) -> Tensor:
        height, width = lifted.shape[-2:]
        if min(height, width) < self.smallest_image:
            raise ValueError(f"z2cnn needs images of at least {self.smallest_image}x{self.smallest_image}, got {height}x{width}")
        return self.layers(self.normalize(lifted))

    def head(self, features: Tensor) -> Tensor:
        return self.pool(self.classifier(features).mean(dim=(-2, -1)))
