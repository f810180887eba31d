"""A group convolution that is not trained any more."""

from __future__ import annotations

from torch import Tensor

from t3cen import ops
from t3cen.nn.conv import GroupConv2d
from t3cen.ops.fixed import fixed_conv2d


class FixedGroupConv2d(GroupConv2d):
    """A `GroupConv2d` after `fix_filters`, with less to do beside the arithmetic in every call on the CPU.

    `FixedGroupConv2d.of(layer)` makes it; its names in `state_dict` are the layer's.
    """

    @classmethod
    def of(cls, layer: GroupConv2d) -> FixedGroupConv2d:
        """The same layer, with the same tensors."""
        made = cls.__new__(cls)
        made.__dict__.update(layer.__dict__)
        return made

    def convolve(self, input: Tensor, bias: Tensor | None) -> Tensor:
        """As `GroupConv2d.convolve`."""
        filters, (left, right, top, bottom) = self.fixed, self._borders()
        as_it_is = self.padding_mode == "zeros" and (top, left) == (bottom, right) and self.kernel_size != (1, 1)
        if filters is None or not (input.is_cpu and as_it_is and ops.precision(filters) == input.dtype == filters.dtype):
            return super().convolve(input, bias)
        return fixed_conv2d(input, filters, bias, list(self.cyclic_orders), [*self.stride, top, left, *self.dilation])
