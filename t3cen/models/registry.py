"""`build`: a network by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from t3cen.color import get_color_space
from t3cen.covers import get_covers
from t3cen.groups import ColorGroup, CyclicProduct
from t3cen.models.families import FAMILIES, accepting
from t3cen.models.network import Network
from t3cen.models.widths import fixed_parameters
from t3cen.nn.band_limited.limit import BandLimit
from t3cen.registry import Registry

NetworkClass = TypeVar("NetworkClass", bound=type[Network])
ARCHITECTURES: Registry[Callable[..., Network]] = Registry("t3cen.models")
"""Networks by name, each a function of what `build` offers: see `architecture`."""
LIBRARIES: Registry[Callable[..., Network]] = Registry("t3cen.libraries")
"""Other libraries by name, each a function of the name of one of its networks and of what `build` offers."""


def architecture(name: str, *, widths: Sequence[int], **options: Any) -> Callable[[NetworkClass], NetworkClass]:
    """Decorate a network class, to be known to `build` as `name`; one class may have several names with other options.

    The class is called with those of the following arguments that its constructor names: the parts of its family (`lifting`,
    `stem`, `conv`, `nonlinear`, `max_pool`; see `Family`), `pool`, the pooling at the end, `widths` or `width`, the first of
    them, `num_classes`, `mean`, `std`, `recompute`, and `options`.

    Args:
        name: of the network.
        widths: published channels of each stage; the class gets them scaled to `build`'s `width` and divided by `sqrt(|G|)`.
        options: further arguments of the class.

    Raises:
        ValueError: the name is taken.
    """

    def decorate(network: NetworkClass) -> NetworkClass:
        named = inspect.signature(network).parameters

        def construct(order: int, width: int | None, **offered: Any) -> Network:
            scaled = [stage * (width or widths[0]) // widths[0] for stage in widths]
            if offered["recompute"] and "recompute" not in named:
                raise ValueError(f"{name} keeps its activations: recompute must be false")
            narrowed = fixed_parameters(scaled, order)
            offered |= {**options, "widths": narrowed, "width": narrowed[0]}
            return network(**{argument: value for argument, value in offered.items() if argument in named})

        ARCHITECTURES.add(name, construct)
        return network

    return decorate


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
    light: Mapping[str, Any] | None = None,
    separable: bool = False,
    band_limit: BandLimit | Mapping[str, Any] | bool | None = None,
    recompute: bool = False,
) -> Network:
    """A network by name, with as many parameters as its plain twin whatever the group.

    Args:
        name: one of `names()`, such as `"resnet18"`, or one of another library's, such as `"torchvision/resnet18"` or
            `"timm/convnext_tiny"`, in its own widths and without a colour group.
        group: the colour group, or its name as in the paper (`"h4s4"`).
        num_classes: number of logits, at least 2.
        family: how colour enters, one of `FAMILIES` (`t3cen.models.families`), such as `"t3cen"` or `"plain"`.
        cover: double cover of saturation and luminance (see `t3cen.covers`).
        backend: of the group convolution, `"auto"`, `"direct"` or `"fourier"`.
        color_space: `"hsl"` (paper) or `"hsv"` (the predecessor's code).
        width: channels of the first stage before they are divided by `sqrt(|G|)`; None is the published width.
        pool: at the end, `"max"` over the group (paper), `"mean"`, `"pixel_max"` or `"none"` (`t3cen.models.pooling`).
        mean, std: normalisation after the lifting; CEConv takes their means over the three channels.
        lcer: further arguments of `LCERLifting`, for that family.
        light: `axes` (`"channels"` or `"illuminant"`), `stops` and `srgb` of `LightLifting`, for the family `t3cen_light`.
        separable: CEConv's separable variant, for that family.
        band_limit: True for features band-limited along the group, which makes the network equivariant between the group's
            steps too (docs/continuous.md); a mapping of `BandLimit`'s attributes says how finely. Odd orders of 3 and more
            are best; an even one leaves its middle frequency unused. For the families `t3cen`, `t3cen_rgb`, `t3cen_light`,
            `t3cen_scale`.
        recompute: whether training makes the activations of a block again in the backward pass instead of keeping them: less
            memory, the time of another forward pass, the same results.

    Returns:
        a `Network` from `(B, 3, H, W)` RGB in [0, 1] to logits `(B, num_classes)`.

    Raises:
        ValueError: an unknown name, family, cover or colour space, a group the family does not support, an option of another
            family, too few classes or channels, a `separable` or `recompute` that is no bool.
    """
    library, _, model = name.partition("/")
    if name not in ARCHITECTURES and not (model and library in LIBRARIES):
        others = ", ".join(f"{known}/NAME" for known in sorted(LIBRARIES))
        raise ValueError(f"unknown network {name!r}; known: {', '.join(names())}, {others}")
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
    get_covers(cover)  # also where a family has no use for it: the trainer's step jitter has
    get_color_space(color_space)
    limit = BandLimit.of(band_limit)
    if limit is not None and family not in accepting("band_limit"):
        raise ValueError(
            f"band_limit needs a group of rotations, which {', '.join(accepting('band_limit'))} have and {family!r} has not"
        )
    for option, given in (
        ("color_space", color_space != "hsl"),
        ("lcer", bool(lcer)),
        ("light", bool(light)),
        ("separable", separable),
    ):
        if given and family not in accepting(option):
            known = ", ".join(accepting(option))
            raise ValueError(f"{option} is an option of {known}; the family {family!r} has no use for it")
    options = {"cover": cover, "backend": backend, "color_space": color_space, "separable": separable}
    own = {"lcer": dict(lcer or {}), "light": dict(light or {})}
    parts = FAMILIES[family](group, band_limit=limit, **options, **own)
    if parts.one_statistic:
        mean, std = [sum(mean) / 3] * 3, [sum(std) / 3] * 3
    ending = {"pool": parts.pool(pool, group.order), "num_classes": num_classes, "mean": mean, "std": std}
    if model:
        if width is not None or recompute:
            raise ValueError(
                f"{name} is built as its library has it: model.width=null model.recompute=false, got {width} and {recompute}"
            )
        lifting = FAMILIES[family](group, band_limit=None, **options, **own).lifting
        return LIBRARIES[library](model, family, group, lifting, limit, **ending)
    offered = {**vars(parts), **ending}
    return ARCHITECTURES[name](group.order, width, recompute=recompute, **offered)
