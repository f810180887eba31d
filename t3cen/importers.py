"""Weights of the predecessors' published networks, for ours.

LCER stores the filters `(out, hue, saturation, in, kh, kw)` as `(out, hue * saturation * in, kh, kw)`, CEConv as
`(out, in, hue, kh, kw)`. What they compute with them is what our layers compute; here only layouts and names change. Which
`build` gives which published network, and so its predictions, is in docs/baselines.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from t3cen.nn import CEConv2d, CELiftingConv2d, GroupConv2d, LCERConv2d
from t3cen.nn.baselines.ce_conv import hue_rotations

RENAMINGS: tuple[tuple[str, str], ...] = (
    (r"^(?:module|model|net|network)\.", ""),
    (r"^conv1\.", "stem.0."),
    (r"^bn1\.", "stem.1."),
    (r"^layers\.(\d+)\.", r"stages.\1."),
    (r"^layer1\.", "stages.0."),
    (r"^layer2\.", "stages.1."),
    (r"^layer3\.", "stages.2."),
    (r"^layer4\.", "stages.3."),
    (r"\.bn(\d)\.", r".norm\1."),
    (r"\.batch_norm\.", "."),
    (r"\.downsample\.", ".shortcut."),
    (r"^(?:fc|linear)\.", "classifier."),
    (r"\.pointwise_weight$", ".pointwise"),
)
"""Published names to ours, as regular expressions applied in this order; those of torchvision's ResNets, LCER's and CEConv's."""


def load_published(
    network: nn.Module, published: Mapping[str, Tensor], renamings: Sequence[tuple[str, str]] = RENAMINGS
) -> dict[str, str]:
    """Load a published LCER or CEConv state dict into a network of `t3cen.models`, all of it or nothing.

    Args:
        network: built with the published network's group, widths and number of classes; changed in place.
        published: its state dict; a checkpoint with a `"state_dict"` entry is also taken.
        renamings: for networks that name their layers otherwise.

    Returns:
        the published entries that were dropped, each with the reason.

    Raises:
        ValueError: an entry of the network has no counterpart, or one of another shape; or the published network rotates
            colours in a way ours cannot.

    Source: arXiv 2406.09588 (LCER) and 2310.19368 (CEConv).
    """
    if isinstance(published.get("state_dict"), Mapping):
        published = published["state_dict"]  # type: ignore[assignment]
    wanted = network.state_dict()
    layers: dict[str, dict[str, tuple[str, Tensor]]] = defaultdict(dict)
    for name, value in published.items():
        layer, _, entry = _renamed(name, renamings).rpartition(".")
        layers[layer][entry] = (name, value)
    loaded: dict[str, Tensor] = {}
    dropped: dict[str, str] = {}
    modules = dict(network.named_modules())
    for layer, entries in layers.items():
        values = {entry: value for entry, (_, value) in entries.items()}
        if layer not in modules:
            dropped |= {name: f"there is no layer {layer or 'of that name'!r} here" for name, _ in entries.values()}
            continue
        ours, reasons = convert(modules[layer], values)
        reasons |= {entry: "there is no such entry here" for entry in ours if f"{layer}.{entry}" not in wanted}
        if layer == "classifier" and "weight" in ours:
            ours["weight"] = _by_element(ours["weight"], getattr(getattr(network, "pool", None), "entries", 1))
        dropped |= {entries[entry][0]: reason for entry, reason in reasons.items()}
        loaded |= {f"{layer}.{entry}": value for entry, value in ours.items() if entry not in reasons}
    _same(wanted, loaded, dropped)
    network.load_state_dict(loaded)
    return dropped


def convert(layer: nn.Module, published: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """One published layer's entries in the layout of ours.

    Args:
        layer: the layer of ours they are for.
        published: `weight`, `bias`; for CEConv `pointwise` and `transformation_matrix`; for LCER `conv_weight` in place of
            `weight`, and `group_conv_weight`, which is made of it.

    Returns:
        entries for `layer.load_state_dict`, and the entries dropped with their reasons.

    Raises:
        ValueError: a weight without the axes of a published layer, or a colour rotation other than ours.
    """
    entries, dropped = dict(published), {}
    matrix = entries.pop("transformation_matrix", None)
    if matrix is not None:
        dropped["transformation_matrix"] = "our rotation is computed, not stored"
        _check_rotation(layer, matrix)
    if "group_conv_weight" in entries:
        del entries["group_conv_weight"]
        dropped["group_conv_weight"] = "made of conv_weight"
    if "conv_weight" in entries:
        entries["weight"] = _lcer_filters(layer, entries.pop("conv_weight"))
        return entries, dropped
    weight = entries.get("weight")
    if weight is None:
        return entries, dropped
    if isinstance(layer, (GroupConv2d, CELiftingConv2d)) and layer.group.order == 1 and weight.ndim == 4:
        # The baselines without a group are ordinary convolutions.
        entries["weight"] = weight.reshape(*weight.shape[:2], *(1,) * (layer.weight.ndim - 4), *weight.shape[2:])
    elif isinstance(layer, LCERConv2d):
        raise ValueError(f"a published LCER layer has a conv_weight, got a weight {tuple(weight.shape)}")
    elif isinstance(layer, CELiftingConv2d):
        _check_axes(weight, 5, "CEConv (out, 3, 1, kh, kw)")
        entries["weight"] = weight.squeeze(2)
    elif isinstance(layer, CEConv2d):
        _check_axes(weight, 5, "CEConv (out, in, hue, kh, kw)")
        if "pointwise" in entries and not layer.separable:
            weight = weight * entries.pop("pointwise")
            dropped["pointwise"] = "multiplied into the weight"
        entries["weight"] = weight[:, :, :, None, None]
        if "pointwise" in entries:
            entries["pointwise"] = entries["pointwise"][:, :, :, None, None]
    return entries, dropped


def _by_element(weight: Tensor, order: int) -> Tensor:
    """CEConv's classifier without coset pooling, `(classes, channels * order)`, to `(classes, order * channels)` of ours.

    Its group is counted the other way round.
    """
    if order == 1 or weight.shape[1] % order:
        return weight
    return weight.unflatten(1, (-1, order)).flip(2).roll(1, 2).transpose(1, 2).flatten(1)


def _lcer_filters(layer: nn.Module, weight: Tensor) -> Tensor:
    """`(out, hue * saturation * in, kh, kw)` to the axes of ours; the published layer has one for saturation or luminance."""
    if not isinstance(layer, LCERConv2d):
        raise ValueError(f"an LCER filter bank for a {type(layer).__name__}; build the network with family='lcer'")
    _check_axes(weight, 4, "LCER (out, hue * saturation * in, kh, kw)")
    orders = layer.group.orders
    if weight.shape[1] % layer.group.order:
        raise ValueError(
            f"{weight.shape[1]} inputs in an LCER filter bank, a multiple of {layer.group.order} expected by {layer.group}"
        )
    return weight.unflatten(1, (*orders, -1)).movedim(4, 1)


def _renamed(name: str, renamings: Sequence[tuple[str, str]]) -> str:
    for pattern, replacement in renamings:
        name = re.sub(pattern, replacement, name)
    return name


def _check_axes(weight: Tensor, axes: int, layout: str) -> None:
    if weight.ndim != axes:
        raise ValueError(f"{weight.ndim} axes in a published weight {tuple(weight.shape)}, {axes} expected: {layout}")


def _check_rotation(layer: nn.Module, matrix: Tensor) -> None:
    if not isinstance(layer, CELiftingConv2d):
        raise ValueError(f"a colour rotation for a {type(layer).__name__}; only CEConv's first layer has one")
    order = layer.group.order
    if not torch.allclose(matrix.double(), hue_rotations(order)[1 % order].to(matrix.device), atol=1e-4):
        raise ValueError(
            f"the published first layer does not rotate by 1/{order} of a turn about the grey axis: its matrix is "
            f"{matrix.tolist()}; a learned matrix, or one of another order, has no counterpart here"
        )


def _same(wanted: Mapping[str, Tensor], loaded: Mapping[str, Tensor], dropped: Mapping[str, str]) -> None:
    absent = sorted(wanted.keys() - loaded.keys())
    if absent:
        unused = f" Unused were {', '.join(dropped)}." if dropped else ""
        raise ValueError(
            f"{len(absent)} of the network's {len(wanted)} entries are not in the published state dict: {', '.join(absent[:5])}"
            f"{' ...' if len(absent) > 5 else ''}.{unused} If they have other names there, give `renamings`."
        )
    for name, value in loaded.items():
        if value.shape != wanted[name].shape:
            raise ValueError(
                f"{name}: shape {tuple(value.shape)} published, {tuple(wanted[name].shape)} expected; build the network with the "
                "published group, width, number of classes, and separable or full filters"
            )
