"""Group convolution whose filters never change, for one image or a few: there counts what a call costs beside its arithmetic.

A door of its own: what is trained does not come through it, so no result is of other code when something here changes.
"""

from __future__ import annotations

from torch import Tensor

from t3cen.ops import fourier
from t3cen.ops.operator import operator


@operator(
    "fixed_conv2d(Tensor input, Tensor filters, Tensor? bias, int[] orders, int[6] geometry) -> Tensor",
    flops=fourier._flops,
    kernel=lambda plain: fourier.fourier_conv2d,
)
def fixed_conv2d(input: Tensor, filters: Tensor, bias: Tensor | None, orders: list[int], geometry: list[int]) -> Tensor:
    """`fourier.fourier_conv2d` with filters that are constants: same arguments, same result to rounding."""
    return fourier.fourier_conv2d.plain(input, filters, bias, orders, geometry)


from t3cen.ops.cpu import fixed  # noqa: E402, F401  registers its kernel
