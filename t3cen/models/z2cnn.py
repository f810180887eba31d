"""Z2CNN: the small network of Cohen & Welling (2016), on functions on a colour group."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from torch import Tensor, nn

from t3cen.models.network import ConvFactory, MaxPoolFactory, Network, NonlinearFactory, Normalize, norm_act
from t3cen.models.pooling import GlobalPool
from t3cen.models.registry import architecture
from t3cen.nn.checkpointing import CheckpointedSequential
from t3cen.nn.liftings.base import Lifting


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
        pool: GlobalPool,
        width: int,
        num_classes: int,
        mean: Sequence[float] = (0.5, 0.5, 0.5),
        std: Sequence[float] = (0.5, 0.5, 0.5),
        recompute: bool = False,
    ) -> None:
        super().__init__()
        if pool.entries != 1:
            raise ValueError("z2cnn's logits are pooled over the group: pool must be max, mean or pixel_max, got none")
        self.lifting = lifting
        self.normalize = Normalize(mean, std)
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        starts, place = [], 0
        for depth in range(6):
            starts.append(len(layers))
            layers[str(place)] = conv(width, width, 3) if depth else stem(3, width, 3)
            layers[str(place + 1)] = norm_act(width, nonlinear)
            place += 3  # names count ReLU as a layer
            if depth == 1:
                layers[str(place)] = max_pool(2)
                place += 1
        self.layers = CheckpointedSequential(layers, starts=starts) if recompute else nn.Sequential(layers)
        self.channels = width
        self.classifier = conv(width, num_classes, 4, bias=True)
        self.pool = pool

    def trunk(self, lifted: Tensor) -> Tensor:
        height, width = lifted.shape[-2:]
        if min(height, width) < self.smallest_image:
            raise ValueError(f"z2cnn needs images of at least {self.smallest_image}x{self.smallest_image}, got {height}x{width}")
        return self.layers(self.normalize(lifted))

    def head(self, features: Tensor) -> Tensor:
        return self.pool(self.classifier(features))
