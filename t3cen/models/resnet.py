"""Residual networks on functions on a colour group."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from t3cen.models.network import ConvFactory, Network, NonlinearFactory, Normalize, norm_act
from t3cen.models.pooling import GlobalPool
from t3cen.models.registry import architecture
from t3cen.nn import GroupBatchNorm2d
from t3cen.nn.checkpointing import CheckpointedSequential
from t3cen.nn.liftings.base import Lifting


def _shortcut(conv: ConvFactory, in_channels: int, out_channels: int, stride: int) -> nn.Module:
    if stride == 1 and in_channels == out_channels:
        return nn.Identity()
    return nn.Sequential(conv(in_channels, out_channels, 1, stride=stride), GroupBatchNorm2d(out_channels))


class BasicBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut (He et al., 2016), `(B, G, C, H, W) -> (B, G, C', H', W')`."""

    expansion = 1

    def __init__(self, conv: ConvFactory, nonlinear: NonlinearFactory, in_channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = conv(in_channels, width, 3, stride=stride, padding=1)
        self.norm1 = norm_act(width, nonlinear)
        self.conv2 = conv(width, width, 3, padding=1)
        self.norm2 = norm_act(width, nonlinear)
        self.shortcut = _shortcut(conv, in_channels, width, stride)

    def forward(self, f: Tensor) -> Tensor:
        out = self.norm1(self.conv1(f))
        return self.norm2(self.conv2(out), self.shortcut(f))


class Bottleneck(nn.Module):
    """1x1, 3x3, 1x1 convolutions around a shortcut (He et al., 2016), four times as many channels out as inside."""

    expansion = 4

    def __init__(self, conv: ConvFactory, nonlinear: NonlinearFactory, in_channels: int, width: int, stride: int) -> None:
        super().__init__()
        out_channels = width * self.expansion
        self.conv1 = conv(in_channels, width, 1)
        self.norm1 = norm_act(width, nonlinear)
        self.conv2 = conv(width, width, 3, stride=stride, padding=1)
        self.norm2 = norm_act(width, nonlinear)
        self.conv3 = conv(width, out_channels, 1)
        self.norm3 = norm_act(out_channels, nonlinear)
        self.shortcut = _shortcut(conv, in_channels, out_channels, stride)

    def forward(self, f: Tensor) -> Tensor:
        out = self.norm1(self.conv1(f))
        out = self.norm2(self.conv2(out))
        return self.norm3(self.conv3(out), self.shortcut(f))


@architecture("resnet18", block=BasicBlock, depths=(2, 2, 2, 2), widths=(64, 128, 256, 512))
@architecture("resnet44", block=BasicBlock, depths=(7, 7, 7), widths=(32, 64, 128))
@architecture("resnet50", block=Bottleneck, depths=(3, 4, 6, 3), widths=(64, 128, 256, 512))
class ResNet(Network):
    """A residual network with a 3x3 stride-1 stem, without the stem's max-pool, for images of any size.

    Args:
        lifting: module `(B, 3, H, W) -> (B, G, 3, H, W)`.
        stem, conv: factories of the first and of every further convolution.
        nonlinear: how a nonlinearity of the plane is applied to a function on the group.
        block: `BasicBlock` or `Bottleneck`.
        depths: blocks in each stage; every stage but the first halves the image.
        widths: channels in each stage, as they are (see `models.widths`).
        num_classes: number of logits.
        pool: pooling over the plane and the group at the end.
        mean, std: normalisation after the lifting, RGB in [0, 1].
        recompute: whether training makes the activations of each block again in the backward pass instead of keeping them.
    """

    def __init__(
        self,
        *,
        lifting: Lifting,
        stem: ConvFactory,
        conv: ConvFactory,
        nonlinear: NonlinearFactory,
        pool: GlobalPool,
        block: type[BasicBlock] | type[Bottleneck],
        depths: Sequence[int],
        widths: Sequence[int],
        num_classes: int,
        mean: Sequence[float] = (0.5, 0.5, 0.5),
        std: Sequence[float] = (0.5, 0.5, 0.5),
        recompute: bool = False,
    ) -> None:
        super().__init__()
        self.lifting = lifting
        self.normalize = Normalize(mean, std)
        self.stem = nn.Sequential(stem(3, widths[0], 3, padding=1), norm_act(widths[0], nonlinear))
        channels, stages = widths[0], []
        for stage, (depth, width) in enumerate(zip(depths, widths, strict=True)):
            blocks: list[nn.Module] = []
            for position in range(depth):
                blocks.append(block(conv, nonlinear, channels, width, stride=2 if stage and not position else 1))
                channels = width * block.expansion
            stages.append(CheckpointedSequential(*blocks) if recompute else nn.Sequential(*blocks))
        self.stages = nn.Sequential(*stages)
        self.pool = pool
        self.channels = channels
        self.classifier = nn.Linear(channels * pool.entries, num_classes)

    def trunk(self, lifted: Tensor) -> Tensor:
        return self.stages(self.stem(self.normalize(lifted)))

    def head(self, features: Tensor) -> Tensor:
        return self.classifier(self.pool(features))
