"""The hidden layer of LCER: cyclic in hue, a translation with zeros in saturation or luminance."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.groups import ColorGroup
from t3cen.nn.conv import GroupConv2d, Pair


class LCERConv2d(GroupConv2d):
    """The convolution of "Learning Color Equivariant Representations" (Yang et al., 2024).

    With `N` hues and `M` saturations (or luminances), output element `(i, j)` is an ordinary convolution of all input
    elements with the filter bank `weight[:, :, b_hue - i, b_sat - (j - M // 2)]`: rolled by `i` along hue, and moved by
    `s = j - M // 2` along saturation, where entries that would wrap around are zero. The moved bank is multiplied by
    `M / (M - |s|)` to make up for its missing filters. So the layer commutes with hue steps exactly, and with
    saturation or luminance steps only up to what is zeroed and rescaled.

    Args:
        in_channels, out_channels: channels per group element.
        kernel_size, stride, padding, dilation, padding_mode: as in `nn.Conv2d`.
        group: hue, and one of saturation and luminance with an odd order.
        bias: one number per output channel; the published layer has none.
        backend: how the hue axis is convolved, as in `GroupConv2d`. The saturation axis is always expanded.

    Shape:
        input `(B, G, in_channels, H, W)`, output `(B, G, out_channels, H', W')`; weight
        `(out_channels, in_channels, *group.orders, kh, kw)`.

    Raises:
        ValueError: a group LCER does not support, or what `GroupConv2d` raises.

    Source: arXiv 2406.09588; paper, eq. for the saturation action on functions with zeros, and appendix "Saturation
    Equivariance Error".
    """

    # LCER correlates, sum_b f(b) w(b - a). The transform of filters reads them so for free; the direct form turns them round.
    correlates = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Pair,
        group: ColorGroup,
        stride: int | Pair = 1,
        padding: str | int | Pair = 0,
        dilation: int | Pair = 1,
        bias: bool = False,
        padding_mode: str = "zeros",
        backend: str = "auto",
    ) -> None:
        check_lcer_group(group)
        super().__init__(in_channels, out_channels, kernel_size, group, stride, padding, dilation, bias, padding_mode, backend)

    def forward(self, input: Tensor) -> Tensor:
        """`(B, G, in_channels, H, W)` to `(B, G, out_channels, H', W')`."""
        self._check(input)
        hues, steps = self.group.orders[0], self.group.order // self.group.orders[0]
        # Elements are row-major with hue slowest, so the saturation axis folds into the channels without a copy.
        folded = input.unflatten(1, (hues, steps)).flatten(2, 3)
        bias = None if self.bias is None else self.bias.repeat(steps)
        return self.convolve(folded, bias).unflatten(2, (steps, -1)).flatten(1, 2)

    @property
    def cyclic_orders(self) -> tuple[int, ...]:
        """Hue alone is cyclic."""
        return self.group.orders[:1]

    def filter_bank(self) -> Tensor:
        """Those on hue, turned round for the direct form (see `correlates`)."""
        filters = self.hue_filters()
        turned = self.resolved_backend == "direct" and filters.shape[2] > 2
        return filters.flip(2).roll(1, 2) if turned else filters

    def hue_filters(self) -> Tensor:
        """The filters as a function on hue alone, `(M C', M C, N, kh, kw)`, the translations along `M` expanded."""
        weight = self.weight.flatten(3, 4)
        steps = weight.shape[3]
        if steps == 1:
            return weight.squeeze(3)
        # weight[b - s] for 0 <= b - s < M, zero elsewhere: windows of the zero-padded filters, the last for the lowest s.
        middle = steps // 2
        windows = F.pad(weight, (0, 0, 0, 0, middle, middle)).unfold(3, steps, 1).flip(3)  # (C', C, N, j, kh, kw, b)
        kept = steps - (torch.arange(steps, device=weight.device) - middle).abs()
        moved = windows * (steps / kept.to(weight))[:, None, None, None]
        return moved.permute(3, 0, 6, 1, 2, 4, 5).flatten(2, 3).flatten(0, 1)


def check_lcer_group(group: ColorGroup) -> None:
    """Refuse the groups LCER is not defined for.

    Raises:
        ValueError: both saturation and luminance, or an even order of one of them.
    """
    _, saturation, luminance = group.orders
    if saturation > 1 and luminance > 1:
        raise ValueError(
            f"LCER does not support saturation and luminance together, as in the paper; got {group}. "
            "Leave one of the two orders at 1, or use T3CEN."
        )
    for name, order in (("saturation", saturation), ("luminance", luminance)):
        if order % 2 == 0:
            raise ValueError(
                f"LCER needs an odd {name} order, because its shifts lie symmetrically around the image itself; got {order}. "
                f"Use {order - 1 if order > 2 else 3} or {order + 1 if order > 2 else 5}, or T3CEN for even orders."
            )
