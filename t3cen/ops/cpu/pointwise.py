"""Convolution in groups with 1x1 kernels as matrix products: of few channels a group they take half of PyTorch's own's time.

Maps are `(B, groups inputs, H, W)`, filters `(groups outputs, inputs, 1, 1)`, in any precision.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from t3cen.ops.geometry import ConvGeometry

WIDE = 32  # places of one map that fill a matrix product; fewer are put together with those of the other images, by copies


def takes(filters: Tensor, geometry: ConvGeometry) -> bool:
    """Whether every place is a product of its own; strides are taken before (`ops.fourier`)."""
    return filters.shape[2:] == (1, 1) and geometry.stride == (1, 1) and geometry.padding == (0, 0)


def forward(maps: Tensor, filters: Tensor, groups: int) -> Tensor:
    """`F.conv2d(maps, filters, None, 1, 0, 1, groups)`."""
    return _product(filters.flatten(1).unflatten(0, (groups, -1)), maps, groups)


def backward(
    gradient: Tensor, maps: Tensor, filters: Tensor, groups: int, needed: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of maps and filters, those that are needed, from that of the result."""
    to_maps = _product(filters.flatten(1).unflatten(0, (groups, -1)).mT, gradient, groups) if needed[0] else None
    if not needed[1]:
        return to_maps, None
    at, of = _vectors(gradient, groups), _vectors(maps, groups)
    products = (at @ of.mT).sum(0) if at.shape[-1] >= WIDE else torch.einsum("bgop,bgip->goi", at, of)
    return to_maps, products.reshape(filters.shape)


def _product(matrices: Tensor, maps: Tensor, groups: int) -> Tensor:
    vectors = _vectors(maps, groups)
    made = matrices @ vectors if vectors.shape[-1] >= WIDE else torch.einsum("goi,bgip->bgop", matrices, vectors)
    return made.reshape(len(maps), groups * matrices.shape[1], *maps.shape[2:])


def _vectors(maps: Tensor, groups: int) -> Tensor:
    """`(B, groups, channels, H W)`."""
    return maps.flatten(2).unflatten(1, (groups, -1))
