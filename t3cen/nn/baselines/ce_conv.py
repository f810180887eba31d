"""CEConv: convolutions equivariant to rotations of RGB about the grey axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, cast

import torch
from torch import Tensor, nn

from t3cen.groups import ColorGroup
from t3cen.nn.conv import GroupConv2d, Pair
from t3cen.ops import in_precision_of


class CELiftingConv2d(nn.Conv2d):
    """The first layer of CEConv, from RGB to functions on the group of hue rotations.

    Output element `g` is an ordinary convolution of the image with the filter rotated about the grey axis by `-g / N`
    of a turn, which is the filter itself on the image rotated by `g / N`. Nothing is clipped: rotated colours leave the
    RGB cube, so this is exactly equivariant to its own rotation and approximately to a shift of hue. (The published
    layer counts the group the other way round: its element `-g` is our `g`.)

    Args:
        in_channels: 3, red, green and blue.
        out_channels: channels per group element.
        kernel_size, stride, padding, dilation, bias, padding_mode: as in `nn.Conv2d`.
        group: hue alone.

    Shape:
        input `(B, 1, 3, H, W)`, output `(B, N, out_channels, H', W')`; weight `(out_channels, 3, kh, kw)`.

    Raises:
        ValueError: a group with saturation or luminance; other than 3 channels; an input of another shape.

    Source: arXiv 2310.19368.
    """

    rotations: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Pair,
        group: ColorGroup,
        stride: int | Pair = 1,
        padding: str | int | Pair = 0,
        dilation: int | Pair = 1,
        bias: bool = True,
        padding_mode: Literal["zeros", "reflect", "replicate", "circular"] = "zeros",
    ) -> None:
        check_ceconv_group(group)
        if in_channels != 3:
            raise ValueError(f"CEConv lifts by rotating RGB filters, so its first layer has 3 input channels; got {in_channels}")
        super().__init__(3, out_channels, kernel_size, stride, padding, dilation, 1, bias, padding_mode)
        self.group = group
        self._make_rotations()

    def forward(self, input: Tensor) -> Tensor:
        """`(B, 1, 3, H, W)` to `(B, N, out_channels, H', W')`."""
        if input.ndim != 5 or input.shape[1:3] != (1, 3):
            raise ValueError(f"an RGB image (B, 1, 3, H, W) expected by the first layer of CEConv, got {tuple(input.shape)}")
        size = self.group.order
        bias = None if self.bias is None else self.bias.repeat(size)
        image = in_precision_of(self.weight, input.squeeze(1))
        return self._conv_forward(image, self.rotated_filters().flatten(0, 1), bias).unflatten(1, (size, -1))

    def rotated_filters(self) -> Tensor:
        """`(N, out_channels, 3, kh, kw)`: the filter bank seen by every group element."""
        # (R^g x) . w = x . (R^g)^T w
        return torch.einsum("gdc,odhw->gochw", self.rotations, self.weight)

    def _make_rotations(self) -> None:
        """Exact in the weight's precision; derived, so not in `state_dict`."""
        self.register_buffer("rotations", hue_rotations(self.group.order).to(self.weight), persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> CELiftingConv2d:
        module = cast(CELiftingConv2d, super()._apply(fn, recurse))
        module._make_rotations()
        return module

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, {self.group}"


class CEConv2d(GroupConv2d):
    """The hidden layer of CEConv: cyclic group convolution over hue, with full or separable filters.

    A separable filter is the product of one plane filter and one number per group element. (The published layer
    correlates; with the group counted the other way round, as here, that is the convolution of `GroupConv2d`.)

    Args:
        in_channels, out_channels, kernel_size, stride, padding, dilation, bias, padding_mode, backend: as in `GroupConv2d`.
        group: hue alone.
        separable: whether the filters are products. A 1x1 filter has nothing to separate and stays full, as in the published
            shortcuts.

    Shape:
        input `(B, N, in_channels, H, W)`, output `(B, N, out_channels, H', W')`. Weight `(out, in, N, 1, 1, kh, kw)`;
        separable: `weight` `(out, in, 1, 1, 1, kh, kw)` and `pointwise` `(out, in, N, 1, 1, 1, 1)`.

    Raises:
        ValueError: a group with saturation or luminance, or what `GroupConv2d` raises.

    Source: arXiv 2310.19368.
    """

    separable = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Pair,
        group: ColorGroup,
        stride: int | Pair = 1,
        padding: str | int | Pair = 0,
        dilation: int | Pair = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        backend: str = "auto",
        separable: bool = False,
    ) -> None:
        check_ceconv_group(group)
        super().__init__(in_channels, out_channels, kernel_size, group, stride, padding, dilation, bias, padding_mode, backend)
        self.separable = separable and self.kernel_size != (1, 1)
        if self.separable:
            self.weight = nn.Parameter(self.weight[:, :, :1].detach().clone())
            self.pointwise = nn.Parameter(torch.empty(out_channels, in_channels, *group.orders, 1, 1))
            self._reset_pointwise()

    def reset_parameters(self) -> None:
        """The initialisation of `GroupConv2d`; both factors of a separable filter start uniform on +-1/sqrt(C N kh kw)."""
        super().reset_parameters()
        if self.separable:
            self._reset_pointwise()

    def _reset_pointwise(self) -> None:
        bound = 1 / math.sqrt(self.fan_in)
        nn.init.uniform_(self.pointwise, -bound, bound)

    def filter_bank(self) -> Tensor:
        """The weight, or the product of its two factors."""
        return self.weight * self.pointwise if self.separable else self.weight

    @property
    def factors(self) -> dict[str, Tensor]:
        """The weight, and the other factor of a separable one."""
        return {"weight": self.weight, "pointwise": self.pointwise} if self.separable else {"weight": self.weight}

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, separable={self.separable}"


def hue_rotations(order: int) -> Tensor:
    """Rotations of RGB about the grey axis by `g / order` of a turn, from red towards green.

    Returns:
        `(order, 3, 3)` float64, to be applied as `matrix @ rgb`; the rows of each sum to 1, so grey stays.

    Source: arXiv 2310.19368; Rodrigues' formula about (1, 1, 1) / sqrt(3).
    """
    angles = 2 * math.pi * torch.arange(order, dtype=torch.float64) / order
    cos, sin = angles.cos()[:, None, None], angles.sin()[:, None, None]
    turn = torch.tensor([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], dtype=torch.float64) / math.sqrt(3)
    return cos * torch.eye(3, dtype=torch.float64) + (1 - cos) * (1 / 3) + sin * turn


def check_ceconv_group(group: ColorGroup) -> None:
    """Refuse the groups CEConv is not defined for.

    Raises:
        ValueError: a saturation or luminance order other than 1.
    """
    if group.orders[1:] != (1, 1):
        raise ValueError(
            f"CEConv is equivariant to hue alone, got {group}; set saturation and luminance to 1, or use T3CEN or LCER."
        )
