"""The ways colour enters a network: which lifting, and which convolution after it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from torch import nn

from t3cen.groups import ColorGroup, CyclicProduct, LightGroup, RGBGroup, ScaleGroup
from t3cen.models.network import ConvFactory, MaxPoolFactory, NonlinearFactory
from t3cen.models.pooling import GlobalPool
from t3cen.nn import (
    CEConv2d,
    CELiftingConv2d,
    GrayLifting,
    GrayWorldLifting,
    GroupActivation,
    GroupConv2d,
    GroupMaxPool2d,
    HSLLifting,
    IdentityLifting,
    Interpolate,
    LCERConv2d,
    LCERLifting,
    LightLifting,
    Planar,
    RGBLifting,
    ScaleLifting,
    WhitePatchLifting,
    band_limited,
)
from t3cen.nn.band_limited.limit import BandLimit
from t3cen.nn.band_limited.scale import ScaleSeriesLifting
from t3cen.nn.liftings.base import Lifting
from t3cen.registry import Registry


def identity(nonlinearity: nn.Module) -> nn.Module:
    """A nonlinearity that treats all group elements alike already acts on functions on the group."""
    return nonlinearity


def max_pool(kernel_size: int) -> nn.Module:
    """Max-pooling of every group element's plane."""
    return Planar(nn.MaxPool2d(kernel_size))


@dataclass(frozen=True)
class Family:
    """A lifting and what follows it.

    Attributes:
        lifting: image -> function on the group.
        stem, conv: the first and every further convolution, without bias unless asked: a normalisation comes after.
        nonlinear: how a nonlinearity of the plane is applied to a function on the group.
        max_pool: from the side of its windows to max-pooling over the plane.
        pool: from its mode and the order of the group to the pooling at the end.
        one_statistic: whether red, green and blue must be normalised alike, to commute with rotations of RGB.
    """

    lifting: Lifting
    stem: ConvFactory
    conv: ConvFactory
    nonlinear: NonlinearFactory = identity
    max_pool: MaxPoolFactory = max_pool
    pool: Callable[[str, int], GlobalPool] = GlobalPool
    one_statistic: bool = False


FAMILIES: Registry[Callable[..., Family]] = Registry("t3cen.models")
"""The ways colour enters by name, each a function of the group and of those options of `build` that it names."""


def _uniform(lifting: Lifting, conv: ConvFactory) -> Family:
    return Family(lifting, stem=conv, conv=conv)


def _rotations(lifting: Lifting, backend: str, limit: BandLimit | None) -> Family:
    """The lifting's group is a circle sampled: there are rotations between its steps, which a band limit keeps."""
    family = _uniform(lifting, partial(GroupConv2d, group=lifting.group, bias=False, backend=backend))
    return family if limit is None else keep_band(family, limit)


def _trivial(name: str, lifting: type[IdentityLifting], group: CyclicProduct, backend: str) -> Family:
    if group.order != 1:
        raise ValueError(f"a {name} network has no colour group: leave it trivial, got {group}")
    return _uniform(lifting(), partial(GroupConv2d, group=group, bias=False, backend=backend))


@FAMILIES.register
def plain(group: CyclicProduct, *, backend: str, **_: Any) -> Family:
    """The conventional network on RGB."""
    return _trivial("plain", IdentityLifting, group, backend)


@FAMILIES.register
def gray(group: CyclicProduct, *, backend: str, **_: Any) -> Family:
    """The conventional network on grey images (ResNet-Gray)."""
    return _trivial("gray", GrayLifting, group, backend)


@FAMILIES.register
def gray_world(group: CyclicProduct, *, backend: str, **_: Any) -> Family:
    """The conventional network on images with grey-world correction (docs/light.md)."""
    return _trivial("gray_world", GrayWorldLifting, group, backend)


@FAMILIES.register
def white_patch(group: CyclicProduct, *, backend: str, **_: Any) -> Family:
    """The conventional network on images with white-patch correction (docs/light.md)."""
    return _trivial("white_patch", WhitePatchLifting, group, backend)


@FAMILIES.register
def t3cen(group: ColorGroup, *, cover: str, backend: str, color_space: str, band_limit: BandLimit | None, **_: Any) -> Family:
    """T3CEN: hue, saturation and luminance lifted to the hypertorus (paper, "Lifting layer")."""
    return _rotations(HSLLifting(group, cover, color_space=color_space), backend, band_limit)


@FAMILIES.register
def t3cen_rgb(group: CyclicProduct, *, cover: str, backend: str, band_limit: BandLimit | None, **_: Any) -> Family:
    """The same construction on red, green and blue (paper, "Application to RGB shift equivariance")."""
    return _rotations(RGBLifting(RGBGroup(*group.orders), cover), backend, band_limit)


LIGHT_AXES: dict[str, type[RGBGroup] | type[LightGroup]] = {"channels": RGBGroup, "illuminant": LightGroup}
"""What the orders of a light network's group are of: red, green, blue; or exposure, red over green, blue over green."""


@FAMILIES.register
def t3cen_light(
    group: CyclicProduct, *, cover: str, backend: str, band_limit: BandLimit | None, light: dict[str, Any], **_: Any
) -> Family:
    """The same construction on logarithms, for white balance and exposure (docs/light.md)."""
    options = {"axes": "channels", **light}
    axes = options.pop("axes")
    unknown = sorted(set(options) - {"stops", "srgb"})
    if unknown or axes not in LIGHT_AXES:
        raise ValueError(
            f"light takes axes ({' or '.join(LIGHT_AXES)}), stops and srgb, got {unknown[0] if unknown else f'axes={axes!r}'}"
        )
    return _rotations(LightLifting(LIGHT_AXES[axes](*group.orders), cover, **options), backend, band_limit)


@FAMILIES.register
def t3cen_scale(group: CyclicProduct, *, cover: str, backend: str, band_limit: BandLimit | None, **_: Any) -> Family:
    """The same construction on scale (paper, "Application to scale equivariance")."""
    return _rotations(ScaleLifting(ScaleGroup(group.order), cover), backend, band_limit)


@FAMILIES.register
def lcer(group: ColorGroup, *, backend: str, color_space: str, lcer: dict[str, Any], **_: Any) -> Family:
    """LCER: hue cyclic, saturation or luminance translated and clipped (Yang et al., 2024)."""
    lifting = LCERLifting(group, color_space=color_space, **lcer)
    return _uniform(lifting, partial(LCERConv2d, group=group, bias=False, backend=backend))


@FAMILIES.register
def ceconv(group: ColorGroup, *, backend: str, separable: bool, **_: Any) -> Family:
    """CEConv: hue rotations of the first filters (Lengyel et al., 2023)."""
    return Family(
        lifting=IdentityLifting(),
        stem=partial(CELiftingConv2d, group=group, bias=False),
        conv=partial(CEConv2d, group=group, bias=False, separable=separable, backend=backend),
        one_statistic=True,
    )


def accepting(option: str) -> list[str]:
    """The families that an option of `build` means something to."""
    return [name for name, build in FAMILIES.items() if option in inspect.signature(build).parameters]


def keep_band(family: Family, limit: BandLimit) -> Family:
    """The same family with features band-limited along the group (docs/continuous.md).

    Raises:
        ValueError: an order of 2, or a lifting without a Fourier series where `limit.lift` is `"exact"`.
    """
    lifting = family.lifting
    group = lifting.group
    if group.order == 1:
        return family  # nothing lies between the steps of one element

    def pool(mode: str, order: int) -> GlobalPool:
        return GlobalPool(mode, order, Interpolate(group, limit.pool))

    if type(lifting) is ScaleLifting and limit.lift == "exact":
        limited: Lifting = ScaleSeriesLifting(lifting.group, lifting.cover)
    else:
        limited = band_limited(lifting, limit.lift)
    return replace(
        family,
        lifting=limited,
        nonlinear=partial(GroupActivation, group=group, points=limit.activation),
        max_pool=partial(GroupMaxPool2d, group=group, points=limit.activation),
        pool=pool,
    )
