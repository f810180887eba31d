"""Weights of the predecessors' published networks, for ours.

LCER stores a filter as `(out, hue, saturation, in, kh, kw)`, CEConv as `(out, in, hue, kh, kw)`. What they compute with it is
what our layers compute (their tests); here only layouts and names change. The forward passes differ in one place: CEConv
takes the maximum over the group before it averages over the image, `t3cen.models` after, as LCER does.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from t3cen.nn import CEConv2d, CELiftingConv2d, LCERConv2d
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
    (r"\.downsample\.", ".shortcut."),
    (r"^(?:fc|linear)\.", "classifier."),
    (r"\.pointwise_weight$", ".pointwise"),
)
"""Published names to ours, as regular expressions applied in this order; those of torchvision's ResNets and of CEConv's."""


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
        dropped |= {entries[entry][0]: reason for entry, reason in reasons.items()}
        loaded |= {f"{layer}.{entry}": value for entry, value in ours.items() if entry not in reasons}
    _same(wanted, loaded, dropped)
    network.load_state_dict(loaded)
    return dropped


def convert(layer: nn.Module, published: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """One published layer's entries in the layout of ours.

    Args:
        layer: the layer of ours they are for.
        published: `weight`, `bias`, and for CEConv `pointwise` and `transformation_matrix`.

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
    weight = entries.get("weight")
    if weight is None:
        return entries, dropped
    if isinstance(layer, LCERConv2d):
        _check_axes(weight, 6, "LCER (out, hue, saturation, in, kh, kw)")
        by_channel = weight.permute(0, 3, 1, 2, 4, 5)
        _, saturation, _ = layer.group.orders
        # The published layer has one axis for saturation or luminance; ours has both.
        entries["weight"] = by_channel.unsqueeze(4 if saturation > 1 or by_channel.shape[3] == 1 else 3)
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
