"""The group convolution layer; its two backends are `direct` and `fourier`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from t3cen import ops
from t3cen.groups import CyclicProduct
from t3cen.nn.checks import check_own_parameters
from t3cen.nn.filter_cache import FilterCache

Pair = tuple[int, int]
PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class GroupConv2d(nn.Module):
    """Convolution over a product of cyclic groups and the plane; `nn.Conv2d` is the case of order 1.

    `out(a) = bias + sum_b input(b) * weight(a - b)`, where `*` is the planar convolution of `nn.Conv2d`.

    Args:
        in_channels, out_channels: channels per group element.
        kernel_size, stride, padding, dilation, bias, padding_mode: as in `nn.Conv2d`.
        group: the group; any `CyclicProduct`.
        groups: groups of channels that see only each other, as in `nn.Conv2d`; as many as `in_channels` are a depthwise
            convolution, which mixes the elements of the group channel by channel.
        backend: `"direct"` expands the filters over the group, `"fourier"` convolves in the Fourier domain of the
            group; `"auto"` takes the faster one (docs/performance.md). Results agree to rounding, and the parameters
            are the same.

    Shape:
        input `(B, G, in_channels, H, W)`, output `(B, G, out_channels, H', W')`; weight
        `(out_channels, in_channels / groups, *group.orders, kh, kw)`.

    Raises:
        ValueError: an argument out of range; channels that `groups` does not divide; an input without the group axis, or with
            another number of group entries or channels than the layer's.

    Source: paper, eq. 2 and appendix B.
    """

    correlates: ClassVar[bool] = False
    """Whether the filters of the Fourier backend are read backwards, `psi(-b)`."""
    fixed: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Pair,
        group: CyclicProduct,
        stride: int | Pair = 1,
        padding: str | int | Pair = 0,
        dilation: int | Pair = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        backend: str = "auto",
        groups: int = 1,
    ) -> None:
        super().__init__()
        _one_of("backend", backend, ops.BACKENDS)
        _one_of("padding_mode", padding_mode, PADDING_MODES)
        self.in_channels = _at_least(1, "in_channels", in_channels)
        self.out_channels = _at_least(1, "out_channels", out_channels)
        self.group = group
        self.kernel_size = _pair("kernel_size", kernel_size, 1)
        self.stride = _pair("stride", stride, 1)
        self.dilation = _pair("dilation", dilation, 1)
        if isinstance(padding, str):
            _one_of("padding", padding, ("same", "valid"))
            if padding == "same" and self.stride != (1, 1):
                raise ValueError(f"padding 'same' needs stride 1, got {self.stride}; give the padding as numbers")
            self.padding: str | Pair = padding
        else:
            self.padding = _pair("padding", padding, 0)
        self.padding_mode, self.backend = padding_mode, backend
        self.groups = _at_least(1, "groups", groups)
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % self.groups:
                raise ValueError(f"groups must divide {name}, got {groups} groups and {getattr(self, name)} channels")
        shape = (self.out_channels, self.in_channels // self.groups, *group.orders, *self.kernel_size)
        self.weight = nn.Parameter(torch.empty(shape))
        self.bias = nn.Parameter(torch.empty(self.out_channels)) if bias else None
        self._cache = FilterCache()
        self.register_buffer("fixed", None)
        self.reset_parameters()

    @property
    def fan_in(self) -> int:
        """Inputs to one output value: `G C / groups kh kw`."""
        return self.in_channels // self.groups * self.group.order * math.prod(self.kernel_size)

    def reset_parameters(self) -> None:
        """The initialisation of an `nn.Conv2d` with `G C` input channels."""
        # Kaiming uniform with a = sqrt(5) is the uniform distribution on +-1/sqrt(fan in).
        bound = 1 / math.sqrt(self.fan_in)
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """`(B, G, in_channels, H, W)` to `(B, G, out_channels, H', W')`."""
        self._check(input)
        return self.convolve(input, self.bias)

    def filter_bank(self) -> Tensor:
        """The filters as a function on the cyclic factors, `(C', C / groups, *cyclic_orders, kh, kw)`, made of `factors`."""
        return self.weight

    @property
    def factors(self) -> dict[str, Tensor]:
        """The parameters the filters are made of, by name."""
        return {"weight": self.weight}

    def fix_filters(self) -> None:
        """Transform the filters once and for all, and drop the parameters they are made of.

        The layer computes what it did and moves between devices and precisions as before, but cannot be trained. The direct
        backend uses filters as they are, and is left alone.

        Raises:
            ValueError: the parameters are made of others by `torch.nn.utils.parametrize`.
        """
        if self.resolved_backend == "direct" or self.fixed is not None:
            return
        check_own_parameters(self)
        with torch.no_grad():
            self.fixed = self._transform_filters().to(self.weight.dtype, copy=True)
        for name in self.factors:
            setattr(self, name, None)

    def transformed_filters(self, dtype: torch.dtype) -> Tensor:
        """The filters in the Fourier domain, `(R C', C / groups, kh, kw)`."""
        if self.fixed is not None:
            return self.fixed.to(dtype)
        factors = tuple(self.factors.values())
        return self._cache.get(factors, dtype, lambda: self._transform_filters().to(dtype))

    def convolve(self, input: Tensor, bias: Tensor | None) -> Tensor:
        """The convolution of the filter bank with `(B, G, C, H, W)` over `cyclic_orders`."""
        left, right, top, bottom = self._borders()
        padding = (top, left)
        if self.padding_mode != "zeros" or (top, left) != (bottom, right):
            mode = "constant" if self.padding_mode == "zeros" else self.padding_mode
            padded = F.pad(input.flatten(0, 1), (left, right, top, bottom), mode)
            input, padding = padded.unflatten(0, input.shape[:2]), (0, 0)
        geometry = ops.ConvGeometry(self.stride, padding, self.dilation)
        if self.resolved_backend == "direct":
            return ops.direct_group_conv2d(input, self.filter_bank(), bias, self.cyclic_orders, geometry)
        filters = self.transformed_filters(ops.precision(self._held))
        return ops.fourier_group_conv2d(input, filters, bias, self.cyclic_orders, geometry)

    @property
    def cyclic_orders(self) -> tuple[int, ...]:
        """Orders of the cyclic factors that are convolved over: those of the group."""
        return self.group.orders

    @property
    def resolved_backend(self) -> str:
        """The backend that runs: the choice of `"auto"` spelled out."""
        if self.backend != "auto":
            return self.backend
        if self.fixed is not None:
            return "fourier"  # wherever the layer has been moved since
        return ops.choose_backend(self.cyclic_orders, self.in_channels, self.out_channels, self._held.device)

    @property
    def _held(self) -> Tensor:
        return self.weight if self.fixed is None else self.fixed

    def _transform_filters(self) -> Tensor:
        return ops.transform_filters(self.filter_bank(), self.cyclic_orders, self.correlates)

    def _borders(self) -> tuple[int, int, int, int]:
        """Padding in the order of `nn.functional.pad`: left, right, top, bottom."""
        if self.padding == "valid":
            return 0, 0, 0, 0
        if self.padding == "same":
            # As in nn.Conv2d, the odd one goes to the right and the bottom.
            height, width = (d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True))
            return width // 2, width - width // 2, height // 2, height - height // 2
        vertical, horizontal = cast(Pair, self.padding)
        return horizontal, horizontal, vertical, vertical

    def _check(self, input: Tensor) -> None:
        if input.ndim != 5:
            raise ValueError(f"{input.ndim} axes in the input {tuple(input.shape)}, 5 expected: (B, G, C, H, W)")
        shape, order, channels = tuple(input.shape), self.group.order, self.in_channels
        if shape[1] != order:
            raise ValueError(f"{shape[1]} group entries in the input {shape}, {order} expected by {self.group}")
        if shape[2] != channels:
            raise ValueError(f"{shape[2]} channels in the input {shape}, {channels} expected")
        if not input.is_floating_point():
            raise ValueError(f"the input holds {input.dtype}, real floating-point numbers expected")

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> GroupConv2d:
        def apply(tensor: Tensor) -> Tensor:
            # nn.Module.to gives a memory format to all of five axes, but those of a bank over one factor are no volume.
            return fn(tensor[None])[0] if tensor.ndim == 5 else fn(tensor)

        return cast(GroupConv2d, super()._apply(apply, recurse))

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels} -> {self.out_channels}, kernel_size={self.kernel_size}, {self.group}"]
        defaults: dict[str, object] = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1)}
        defaults |= {"groups": 1, "padding_mode": "zeros", "backend": "auto"}
        parts += [f"{name}={getattr(self, name)}" for name, value in defaults.items() if getattr(self, name) != value]
        return ", ".join(parts if self.bias is not None else [*parts, "bias=False"])


def _pair(name: str, value: int | Pair, least: int) -> Pair:
    pair = tuple(value) if isinstance(value, Iterable) else (value, value)
    if len(pair) != 2 or not all(isinstance(v, Integral) and v >= least for v in pair):
        raise ValueError(f"{name} must be a whole number >= {least}, or two of them, got {value!r}")
    return int(pair[0]), int(pair[1])


def _at_least(least: int, name: str, value: int) -> int:
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    return int(value)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
