"""`build`: a network by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from t3cen.color import get_color_space
from t3cen.covers import get_cover
from t3cen.groups import ColorGroup, CyclicProduct
from t3cen.models.families import CONTINUOUS, FAMILIES, Family, keep_band, takers
from t3cen.models.network import Network
from t3cen.models.resnet import BasicBlock, Bottleneck, ResNet
from t3cen.models.widths import fixed_parameters
from t3cen.models.z2cnn import Z2CNN
from t3cen.nn.band_limited.limit import BandLimit

Architecture = Callable[..., Network]


def _resnet(block: type[BasicBlock] | type[Bottleneck], depths: Sequence[int], base_width: int) -> Architecture:
    def construct(family: Family, order: int, width: int | None, pool: str, **options: Any) -> Network:
        widths = [(width or base_width) * 2**stage for stage in range(len(depths))]
        return ResNet(
            lifting=family.lifting,
            stem=family.stem,
            conv=family.conv,
            nonlinear=family.nonlinear,
            pool=family.pool(pool),
            block=block,
            depths=depths,
            widths=fixed_parameters(widths, order),
            **options,
        )

    return construct


def _z2cnn(family: Family, order: int, width: int | None, pool: str, **options: Any) -> Network:
    (narrowed,) = fixed_parameters([width or 20], order)
    return Z2CNN(
        lifting=family.lifting,
        stem=family.stem,
        conv=family.conv,
        nonlinear=family.nonlinear,
        max_pool=family.max_pool,
        pool=family.pool(pool),
        width=narrowed,
        **options,
    )


ARCHITECTURES: dict[str, Architecture] = {
    "resnet18": _resnet(BasicBlock, (2, 2, 2, 2), 64),
    "resnet44": _resnet(BasicBlock, (7, 7, 7), 32),
    "resnet50": _resnet(Bottleneck, (3, 4, 6, 3), 64),
    "z2cnn": _z2cnn,
}


def names() -> list[str]:
    """The architectures `build` knows."""
    return sorted(ARCHITECTURES)


def build(
    name: str,
    group: CyclicProduct | str = "",
    num_classes: int = 10,
    *,
    family: str = "t3cen",
    cover: str = "triangle",
    backend: str = "auto",
    color_space: str = "hsl",
    width: int | None = None,
    pool: str = "max",
    mean: Sequence[float] = (0.5, 0.5, 0.5),
    std: Sequence[float] = (0.5, 0.5, 0.5),
    lcer: Mapping[str, Any] | None = None,
    separable: bool = False,
    band_limit: BandLimit | Mapping[str, Any] | bool | None = None,
    recompute: bool = False,
) -> Network:
    """A network by name, with as many parameters as its plain twin whatever the group.

    Args:
        name: `"resnet18"`, `"resnet44"`, `"resnet50"` or `"z2cnn"`.
        group: the colour group, or its name as in the paper (`"h4s4"`).
        num_classes: number of logits, at least 2.
        family: how colour enters: `"t3cen"`, `"plain"`, `"gray"`, `"lcer"`, `"ceconv"`, `"t3cen_rgb"`, `"t3cen_scale"`.
        cover: double cover of saturation and luminance (see `t3cen.covers`).
        backend: of the group convolution, `"auto"`, `"direct"` or `"fourier"`.
        color_space: `"hsl"` (paper) or `"hsv"` (the predecessor's code).
        width: channels of the first stage before they are divided by `sqrt(|G|)`; None is the published width.
        pool: `"max"` (paper) or `"mean"` over the group.
        mean, std: normalisation after the lifting; CEConv takes their means over the three channels.
        lcer: further arguments of `LCERLifting`, for that family.
        separable: CEConv's separable variant, for that family.
        band_limit: True for features band-limited along the group, which makes the network equivariant between the group's
            steps too (docs/continuous.md); a mapping of `BandLimit`'s attributes says how finely. Odd orders of 3 and more
            are best; an even one leaves its middle frequency unused. For the families `t3cen`, `t3cen_rgb`, `t3cen_scale`.
        recompute: whether training makes the activations of a block again in the backward pass instead of keeping them: less
            memory, the time of another forward pass, the same results.

    Returns:
        a `Network` from `(B, 3, H, W)` RGB in [0, 1] to logits `(B, num_classes)`.

    Raises:
        ValueError: an unknown name, family, cover or colour space, a group the family does not support, an option of another
            family, too few classes or channels, a `separable` or `recompute` that is no bool.
    """
    if name not in ARCHITECTURES:
        raise ValueError(f"unknown network {name!r}; known: {', '.join(names())}")
    if family not in FAMILIES:
        raise ValueError(f"unknown family {family!r}; known: {', '.join(FAMILIES)}")
    if num_classes < 2:
        raise ValueError(f"a classifier needs at least 2 classes, got {num_classes}")
    if width is not None and width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    for option, value in (("separable", separable), ("recompute", recompute)):
        if not isinstance(value, bool):
            raise ValueError(f"{option} must be true or false, got {value!r}")
    if isinstance(group, str):
        group = ColorGroup.parse(group)
    get_cover(cover)  # also where a family has no use for it: the trainer's step jitter has
    get_color_space(color_space)
    for option, given in (("color_space", color_space != "hsl"), ("lcer", bool(lcer)), ("separable", separable)):
        if given and family not in takers(option):
            raise ValueError(f"{option} is an option of {', '.join(takers(option))}; the family {family!r} has no use for it")
    parts = FAMILIES[family](
        group, cover=cover, backend=backend, color_space=color_space, lcer=dict(lcer or {}), separable=separable
    )
    limit = BandLimit.of(band_limit)
    if limit is not None:
        if family not in CONTINUOUS:
            raise ValueError(f"band_limit needs a group of rotations, which {', '.join(CONTINUOUS)} have and {family!r} has not")
        parts = keep_band(parts, limit)
    if parts.one_statistic:
        mean, std = [sum(mean) / 3] * 3, [sum(std) / 3] * 3
    options: dict[str, Any] = {"num_classes": num_classes, "mean": mean, "std": std, "recompute": recompute}
    return ARCHITECTURES[name](parts, group.order, width, pool, **options)
