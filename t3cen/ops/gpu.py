"""The Fourier-domain convolution on a GPU, in two ways beside PyTorch's convolution in groups.

`forward_separate` takes an ordinary convolution for each product: R launches, each of a kernel that reads its maps once.

`forward` takes matrices: every step is a batched matrix product, a few images at a time. Inside, a map is `(R, C, b, H, W)`, the
products of the bilinear algorithm first. So the positions of all images are the columns of one matrix a product. A kernel larger
than a point sees its windows as further rows, `(R, C kh kw, b H' W')`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

import t3cen.ops.fourier  # noqa: F401  its operators are given kernels here
from t3cen.algebra.sparse_factors import Name
from t3cen.ops.axes import exact
from t3cen.ops.devices import measured
from t3cen.ops.geometry import ConvGeometry, Pair
from t3cen.ops.operator import DECOMPOSITIONS, Function, kernel_for
from t3cen.ops.transform import matrix, rank

CHUNK_BYTES = 64 * 2**20
"""Of the windows that are held at once: about the second-level cache of an L40 (96 MiB) or an H100 (50 MiB)."""


def forward(input: Tensor, filters: Tensor, bias: Tensor | None, orders: list[int], numbers: list[int]) -> Tensor:
    """`ops.fourier.fourier_conv2d`."""
    rows, geometry = rank(orders), ConvGeometry.of(numbers)
    size = geometry.output_size(input.shape[3:], filters.shape[2:])
    out = filters.new_empty(*input.shape[:2], len(filters) // rows, *size)
    by_product = filters.reshape(rows, len(filters) // rows, -1)
    for part in _chunks(input, filters, rows, size):
        windows = _windows(_padded(input[part], filters, orders, geometry), filters, geometry, size)
        products = _multiply(by_product, windows)
        if bias is not None:
            # A constant function on the group lives at frequency zero, which comes first.
            products[0] += (bias * input.shape[1])[:, None]
        maps = products.view(rows, out.shape[2], -1, *size)
        out[part] = _mixed(maps, orders, "output", False).permute(2, 0, 1, 3, 4)
    return out


def backward(
    gradient: Tensor, input: Tensor, filters: Tensor, orders: list[int], numbers: list[int], needed: list[bool]
) -> tuple[Tensor, Tensor]:
    """`ops.fourier.fourier_conv2d_backward`."""
    rows, geometry = rank(orders), ConvGeometry.of(numbers)
    size = gradient.shape[3], gradient.shape[4]
    by_product = filters.reshape(rows, len(filters) // rows, -1)
    to_input = torch.empty_like(input, memory_format=torch.contiguous_format) if needed[0] else input.new_empty(0)
    # Chunks are summed in float32 at least.
    to_filters = torch.zeros_like(by_product, dtype=exact(filters.dtype)) if needed[1] else filters.new_empty(0)
    for part in _chunks(input, filters, rows, size):
        at_products = _mixed(gradient[part].permute(1, 2, 0, 3, 4), orders, "output", True).to(filters.dtype).flatten(2)
        if needed[1]:
            windows = _windows(_padded(input[part], filters, orders, geometry), filters, geometry, size)
            to_filters += _multiply(at_products, windows.mT)
        if needed[0]:
            to_windows = _multiply(by_product.mT, at_products)
            to_maps = _overlapped(to_windows, input[part], filters, geometry, size)
            to_input[part] = _mixed(to_maps, orders, "signal", True).permute(2, 0, 1, 3, 4)
    return to_input, to_filters.to(filters.dtype).view(filters.shape) if needed[1] else to_filters


def forward_separate(input: Tensor, filters: Tensor, bias: Tensor | None, orders: list[int], numbers: list[int]) -> Tensor:
    """`ops.fourier.fourier_conv2d`."""
    maps, rows = _at_products(input, filters, orders), rank(orders)
    how = *ConvGeometry.of(numbers), input.shape[2] // filters.shape[1]
    pairs = zip(maps, filters.unflatten(0, (rows, -1)), strict=True)
    products = torch.stack([F.conv2d(map, filter, None, *how) for map, filter in pairs])
    if bias is not None:
        products[0] += (bias * input.shape[1])[:, None, None]  # a constant function lives at frequency zero, which comes first
    return _mixed(products, orders, "output", False).to(filters.dtype).transpose(0, 1).contiguous()


def backward_separate(
    gradient: Tensor, input: Tensor, filters: Tensor, orders: list[int], numbers: list[int], needed: list[bool]
) -> tuple[Tensor, Tensor]:
    """`ops.fourier.fourier_conv2d_backward`."""
    rows, how = rank(orders), (None, *ConvGeometry.of(numbers), False, [0, 0], input.shape[2] // filters.shape[1])
    at_products = _mixed(gradient.transpose(0, 1), orders, "output", True).to(filters.dtype)
    parts = zip(at_products, _at_products(input, filters, orders), filters.unflatten(0, (rows, -1)), strict=True)
    found = [torch.ops.aten.convolution_backward(*part, *how, [*needed, False]) for part in parts]
    to_input, to_filters = input.new_empty(0), filters.new_empty(0)
    if needed[0]:
        mixed = _mixed(torch.stack([to_map for to_map, _, _ in found]), orders, "signal", True)
        to_input = mixed.to(input.dtype).transpose(0, 1).contiguous()
    if needed[1]:
        to_filters = torch.cat([to_filter for _, to_filter, _ in found])
    return to_input, to_filters


def _at_products(input: Tensor, filters: Tensor, orders: list[int]) -> Tensor:
    """`(B, G, C, H, W)` to its transform in the precision of the filters, `(R, B, C, H, W)`."""
    wide = input.to(torch.promote_types(input.dtype, filters.dtype)).transpose(0, 1)
    return _mixed(wide, orders, "signal", False).to(filters.dtype)


def _padded(input: Tensor, filters: Tensor, orders: list[int], geometry: ConvGeometry) -> Tensor:
    """`(b, G, C, H, W)` to its transform with borders, `(R, C, b, H + 2 p, W + 2 q)`."""
    (vertical, horizontal), wide = geometry.padding, input.to(torch.promote_types(input.dtype, filters.dtype))
    bordered = F.pad(wide.permute(1, 2, 0, 3, 4), (horizontal, horizontal, vertical, vertical))
    return _mixed(bordered, orders, "signal", False).to(filters.dtype)


def _mixed(f: Tensor, orders: list[int], name: Name, transposed: bool) -> Tensor:
    """A matrix of the bilinear algorithm along the first axis, in float32 at least and never in TF32."""
    fixed = matrix(tuple(orders), name, transposed, f)
    with _tf32(False):
        return (fixed @ f.to(fixed.dtype).flatten(1)).unflatten(1, f.shape[1:])


def _views(maps: Tensor, filters: Tensor, geometry: ConvGeometry, size: Pair) -> Iterator[Tensor]:
    """What each point of the kernel sees of `(R, C, b, H, W)`: `(R, C, b, H', W')`, views of it."""
    (down, right), (height, width) = geometry.stride, size
    for y in range(filters.shape[2]):
        for x in range(filters.shape[3]):
            top, left = y * geometry.dilation[0], x * geometry.dilation[1]
            yield maps[..., top : top + down * (height - 1) + 1 : down, left : left + right * (width - 1) + 1 : right]


def _windows(maps: Tensor, filters: Tensor, geometry: ConvGeometry, size: Pair) -> Tensor:
    """`(R, C, b, H, W)` to `(R, C kh kw, b H' W')`."""
    views = list(_views(maps, filters, geometry, size))
    seen = views[0] if len(views) == 1 else torch.stack(views, 2).flatten(1, 2)
    return seen.flatten(2)


def _overlapped(to_windows: Tensor, input: Tensor, filters: Tensor, geometry: ConvGeometry, size: Pair) -> Tensor:
    """The transpose of `_windows`, and the borders left out: `(R, C kh kw, b H' W')` to `(R, C, b, H, W)`."""
    (height, width), (vertical, horizontal) = input.shape[3:], geometry.padding
    parts = to_windows.view(len(to_windows), input.shape[2], filters[0, 0].numel(), len(input), *size)
    maps = to_windows.new_zeros(*parts.shape[:2], len(input), height + 2 * vertical, width + 2 * horizontal)
    for view, part in zip(_views(maps, filters, geometry, size), parts.unbind(2), strict=True):
        view += part
    return maps[..., vertical : vertical + height, horizontal : horizontal + width]


def _chunks(input: Tensor, filters: Tensor, rows: int, size: Pair) -> Iterator[slice]:
    """Batch slices whose windows stay within `CHUNK_BYTES`, of an image at least; an empty batch is one empty slice."""
    batch, one = len(input), rows * filters[0].numel() * size[0] * size[1] * filters.element_size()
    step = max(1, CHUNK_BYTES // max(one, 1))
    return (slice(start, start + step) for start in range(0, max(batch, 1), step))


@contextmanager
def _tf32(allowed: bool) -> Iterator[None]:
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = allowed
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def _multiply(left: Tensor, right: Tensor) -> Tensor:
    """Products of matrices that are parts of a convolution, and obey its switch of TF32."""
    with _tf32(torch.backends.cudnn.allow_tf32):
        return left @ right


def _chosen(name: str, matrices: Function, separate: Function) -> Function:
    """The operator in the way that was measured to be fastest on the device; matrices know no groups of channels."""
    plain = DECOMPOSITIONS[getattr(torch.ops.t3cen, name).default]

    def run(*arguments: Any) -> Any:
        input, filters = arguments[name.endswith("backward") :][:2]
        products = measured(input.device).products
        in_groups = filters.shape[1] != input.shape[2]
        kernel = {"matmul": plain if in_groups else matrices, "separate": separate}.get(products, plain)
        return kernel(*arguments)

    return run


kernel_for("CUDA", "fourier_conv2d", _chosen("fourier_conv2d", forward, forward_separate))
kernel_for("CUDA", "fourier_conv2d_backward", _chosen("fourier_conv2d_backward", backward, backward_separate))
