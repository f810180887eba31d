"""`convert`: a network, and its colour-equivariant twin."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from torch import Tensor, nn

from t3cen.conversion import layers
from t3cen.conversion.check import check_alike, is_random
from t3cen.conversion.narrow import KNOWN, check_layers, is_depthwise, narrowed, parameters
from t3cen.conversion.network import Conversion, Converted
from t3cen.conversion.trace import LAYERS, Trace, described, example_for, without_numbers
from t3cen.groups import ColorGroup, CyclicProduct
from t3cen.models.families import Family, keep_band
from t3cen.models.network import Normalize
from t3cen.nn import GroupConv2d, HSLLifting, Planar
from t3cen.nn.band_limited.limit import BandLimit
from t3cen.nn.liftings.base import Lifting

MATCHES = ("parameters", "width")
MIXES = ("dense", "grouped", "all")
NEAR, TRIALS = 0.003, 12
"""How near the number of parameters must come, and how many factors are tried for it."""
MAXIMA = (nn.MaxPool2d, nn.AdaptiveMaxPool2d)
ACTIVATIONS = (
    nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.PReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Mish, nn.Tanh, nn.Sigmoid, nn.Hardswish,
    nn.Hardsigmoid, nn.Hardtanh, nn.Softplus, *MAXIMA,
)  # fmt: skip

GATES = {"SqueezeExcitation", "SqueezeExcite", "SEModule", "EffectiveSEModule", "EcaModule"}
"""Of torchvision and timm: modules that multiply maps by what they compute of them."""


def convert(
    model: nn.Module,
    group: CyclicProduct | str,
    *,
    match: str = "parameters",
    lifting: Lifting | None = None,
    pool: str = "mean",
    example: Tensor | None = None,
    band_limit: BandLimit | Mapping[str, Any] | bool | None = None,
    mix: str = "grouped",
    mean: Sequence[float] = (0.0, 0.0, 0.0),
    std: Sequence[float] = (1.0, 1.0, 1.0),
) -> Converted:
    """The colour-equivariant twin of any convolutional network, without a change of its `forward`.

    Convolutions, transposed ones and linear layers become group convolutions, but for the last ones, which see each element of
    the group by itself. Dilated transposed convolutions see each by itself too.

    Args:
        model: e.g. from torchvision or timm, on images `(B, C, H, W)`; it is not modified.
        group: the group, or a colour group's name as in the paper (`"h4s4"`).
        match: `"parameters"` gives every layer fewer channels, so that there are as many parameters as before, all drawn anew.
            `"width"` keeps the channels and the weights: every bank of filters is the old filter at the identity, and zero
            elsewhere. Then `on_lifted(lifted)[:, g]` is `model(lifted[:, g])` in evaluation mode.
        lifting: from images to functions on the group, `HSLLifting(group)` if left out.
        pool: `"mean"` or `"max"` of the outputs over the group.
        example: images `(B, C, H, W)` of a size that the model takes; their values do not matter. Squares of 32 and a few other
            sizes are tried if left out.
        band_limit: True for features band-limited along the group (docs/continuous.md); a mapping of `BandLimit`'s attributes
            says how finely. Squeeze-and-excitation then sees each element by itself, on the finer group.
        mix: which convolutions mix the elements of the group: `"dense"` those in one group of channels, `"grouped"` those in
            several too, `"all"` depthwise ones too.
        mean, std: normalisation after the lifting, one number a colour channel: that of the images that the model was trained on.

    Returns:
        a network from `(B, C, H, W)`, in [0, 1], to the model's outputs. Its `lifting`, `group`, `on_lifted` and `conversion` say
        what it is. Names in its `state_dict` are those of the model behind `body.`.

    Raises:
        ValueError: an unknown option; a module that cannot be converted, by name, with the reason.

    Source: paper, "Hue, saturation and luminance equivariant networks": group convolutions as drop-in replacements.
    """
    for name, value, allowed in (("match", match, MATCHES), ("mix", mix, MIXES)):
        if value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    group = ColorGroup.parse(group) if isinstance(group, str) else group
    lifting = HSLLifting(group) if lifting is None else lifting  # type: ignore[arg-type]
    if lifting.group != group:
        raise ValueError(f"the lifting is to {lifting.group}, the network to be on {group}: give both the same group")
    limit = BandLimit.of(band_limit)
    conv = partial(GroupConv2d, group=group)
    family = Family(lifting, stem=conv, conv=conv)
    family = family if limit is None else keep_band(family, limit)
    check_layers(model)
    plain = without_numbers(model)
    images = example_for(plain, example)
    trace = Trace(plain, images)
    gates = set() if limit is None else {name for name, module in plain.named_modules() if type(module).__name__ in GATES}
    chosen = {
        name
        for name, module in plain.named_modules()
        if name not in trace.last and _mixes(module, mix) and not _within(name, gates)
    }
    _check_own_forward(plain, chosen)
    cost = _cost(plain, chosen, group.order)
    shape, factor = (plain, 1.0) if match == "width" else _fitting(plain, images, trace, cost)
    body = _built(model, shape, chosen, group)
    if limit is not None:
        _band_limited(body, group, limit, trace, gates)
    check_alike(body, group, images)
    names = tuple(name for name, module in plain.named_modules() if isinstance(module, LAYERS))
    conversion = Conversion(
        before=parameters(model), after=parameters(body), factor=factor, mixing=tuple(n for n in names if n in chosen),
        alike=tuple(n for n in names if n not in chosen),
    )  # fmt: skip
    normalize = nn.Identity() if not any(mean) and set(std) == {1.0} else Normalize(mean, std)
    return Converted(family.lifting, normalize, body, family.pool(pool, group.order).group, conversion).train(model.training)


def _mixes(module: nn.Module, mix: str) -> bool:
    if not isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
        return isinstance(module, nn.Linear)
    if isinstance(module, nn.ConvTranspose2d) and module.dilation != (1, 1):
        return False
    return module.groups == 1 or mix == "all" or (mix == "grouped" and not is_depthwise(module))


def _check_own_forward(plain: nn.Module, chosen: set[str]) -> None:
    for name in chosen:
        module = plain.get_submodule(name)
        base = next(layer for layer in LAYERS if isinstance(module, layer))
        if type(module).forward is not base.forward:
            where = described(plain, name)
            raise ValueError(f"{where} is a {base.__name__} with a forward of its own, which a group convolution cannot copy")


def _cost(plain: nn.Module, chosen: set[str], order: int) -> Callable[[nn.Module], int]:
    """Of a plain network with these names, the number of parameters once the chosen layers mix the group."""

    def cost(model: nn.Module) -> int:
        mixing = {model.get_submodule(name) for name in chosen}
        return parameters(model, lambda module: order if module in mixing else 1)

    return cost


def _fitting(plain: nn.Module, images: Tensor, trace: Trace, cost: Callable[[nn.Module], int]) -> tuple[nn.Module, float]:
    """The narrowed network whose cost is nearest to the parameters of the plain one, and its factor."""
    target = parameters(plain)
    low, high, factor = 0.0, 1.0, min(1.0, (target / cost(plain)) ** 0.5)
    best, best_error = plain, abs(cost(plain) / target - 1)
    best_factor = 1.0
    for _ in range(TRIALS):
        if best_error <= NEAR:
            break
        made = narrowed(plain, images, trace, factor)
        error = cost(made) / target - 1
        if abs(error) < best_error:
            best, best_error, best_factor = made, abs(error), factor
        low, high = (low, factor) if error > 0 else (factor, high)
        # Costs grow as a power between the first and the second of the factor.
        guess = factor * (1 + error) ** -0.6
        factor = guess if low < guess < high else (low + high) / 2
    return best, best_factor


def _built(model: nn.Module, shape: nn.Module, chosen: set[str], group: CyclicProduct) -> nn.Module:
    """A copy with the channels of `shape`, whose chosen layers mix the group."""
    body = copy.deepcopy(model)
    by_old: dict[nn.Module, nn.Module] = {}
    for name, old in list(body.named_modules(remove_duplicate=False)):
        if isinstance(old, KNOWN):
            if old not in by_old:
                wanted = shape.get_submodule(name)
                by_old[old] = layers.mixing(old, wanted, group) if name in chosen else layers.alike(old, wanted)  # type: ignore[arg-type]
            body.set_submodule(name, by_old[old])
        elif name == "" or old in body.modules():
            layers.narrow_numbers(old, shape.get_submodule(name))
    return body


def _within(name: str, gates: set[str]) -> bool:
    return any(name == gate or name.startswith(f"{gate}.") for gate in gates)


def _band_limited(body: nn.Module, group: CyclicProduct, limit: BandLimit, trace: Trace, gates: set[str]) -> None:
    """Put activations, maxima and whole gates on the finer group.

    Raises:
        ValueError: something nonlinear that is no module of its own.
    """
    for name, op in trace.nonlinear:
        module = body.get_submodule(name)
        if not (isinstance(module, ACTIVATIONS) or is_random(module) or _within(name, gates)):
            raise ValueError(
                f"{described(body, name)} computes {op} in its forward: band_limit needs it to be a module, such as nn.ReLU, "
                "or products of features gone"
            )
    for name, module in list(body.named_modules(remove_duplicate=False)):
        if name in gates or (isinstance(module, ACTIVATIONS) and not _within(name, gates)):
            on_maps = module if isinstance(module, ACTIVATIONS) and not isinstance(module, MAXIMA) else Planar(module)
            body.set_submodule(name, layers.FoldedActivation(on_maps, group, limit.activation))
