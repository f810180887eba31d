"""The equivariance checker, for this library's layers and networks and for users' own.

A layer on functions on the group::

    layer = GroupConv2d(2, 3, 3, group).double()
    equivariance_error(layer, group, torch.randn(1, group.order, 2, 8, 8, dtype=torch.float64)).worst   # about 1e-16

A network with its lifting, acting on angles (exact to rounding) and on images (exact where no pixel changes sheet)::

    network_error(network.double().eval(), rgb.double()).worst
    network_error(network.double().eval(), rgb.double(), protocol="image")        # prints the share of pixels beside it

Invariance of the logits, here under shifts of half a step in hue, which no group of whole steps covers::

    network_error(network, rgb, protocol="image", output="logits", elements=[(0.5, 0, 0)])

Equivariance of the features between the steps, for networks built with `band_limit=True` (docs/continuous.md)::

    network_error(network, rgb, elements=[(0.3, 0, 0)], act_output=interpolated(network.lifting.group))

Anything else is `equivariance_error` with its own two actions: `act_input` on what enters, `act_output` on what leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from t3cen.groups import CyclicProduct
from t3cen.nn.band_limited.limit import shift
from t3cen.nn.liftings.base import Lifting

Steps = tuple[float, ...]
Action = Callable[[Tensor, Sequence[float]], Tensor]


class LiftedNetwork(Protocol):
    """What a network must have to be measured whole; `t3cen.models.build` makes such networks."""

    lifting: Lifting

    def trunk(self, lifted: Tensor) -> Tensor: ...

    def head(self, features: Tensor) -> Tensor: ...

    def features(self, rgb: Tensor) -> Tensor: ...

    def __call__(self, rgb: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class EquivarianceError:
    """How far a function is from commuting with a group.

    Attributes:
        per_element: for every element, `sum |f(a x) - a f(x)| / sum |f(a x) + a f(x)|`; 0 is perfect, 1 is unrelated.
        sheet_changes: image protocol only: for every element, the share of pixels in [0, 1] that change sheet.
        hue_losses: image protocol only: for every element, the share of pixels in [0, 1] whose hue the image cannot hold.
    """

    per_element: dict[Steps, float]
    sheet_changes: dict[Steps, float] = field(default_factory=dict)
    hue_losses: dict[Steps, float] = field(default_factory=dict)

    @property
    def worst(self) -> float:
        """The largest error over the elements."""
        return max(self.per_element.values())

    @property
    def mean(self) -> float:
        """The mean error over the elements."""
        return sum(self.per_element.values()) / len(self.per_element)

    @property
    def worst_element(self) -> Steps:
        """An element with the largest error."""
        return max(self.per_element, key=self.per_element.__getitem__)

    def __str__(self) -> str:
        text = (
            f"equivariance error {self.worst:.3g} at {self.worst_element}, mean {self.mean:.3g}, {len(self.per_element)} elements"
        )
        if self.sheet_changes:
            text += f"; at most {max(self.sheet_changes.values()):.1%} of pixels change sheet"
        if self.hue_losses:
            text += f", {max(self.hue_losses.values()):.1%} lose their hue"
        return text


def relative_difference(a: Tensor, b: Tensor) -> float:
    """`sum |a - b| / sum |a + b|`, added up in float64. Source: paper, "Equivariance Error".

    Raises:
        ValueError: shapes differ, a value is not finite, or both tensors are zero, so that nothing would be measured.
    """
    if a.shape != b.shape:
        raise ValueError(f"the two results to compare have shapes {tuple(a.shape)} and {tuple(b.shape)}; they must agree")
    a, b = a.double(), b.double()
    difference, total = (a - b).abs().sum().item(), (a + b).abs().sum().item()
    if not difference + total < float("inf"):
        raise ValueError("the results to compare hold NaN or infinite values")
    if difference == total == 0:
        raise ValueError("both results are zero everywhere, which any two functions agree on; check the input and the weights")
    return difference / total if total else float("inf")


@torch.no_grad()
def equivariance_error(
    function: Callable[[Tensor], Tensor],
    group: CyclicProduct,
    x: Tensor,
    *,
    act_input: Action | None = None,
    act_output: Action | None = None,
    elements: Iterable[Sequence[float]] | None = None,
) -> EquivarianceError:
    """Compare `function(act_input(x, e))` with `act_output(function(x), e)` for every group element e.

    Args:
        function: any function of one tensor; a module is measured in the mode (train or eval) it is in. It must give the
            same result twice, so no dropout in training mode.
        group: the group, and the default of both actions.
        x: the input; float64 tells a defect from rounding.
        act_input: how an element acts on the input; `group.act` if left out, for functions on the group `(B, G, ...)`.
        act_output: how it acts on the output; `group.act` if left out. `invariant` states that the output stays as it is.
        elements: the elements to try, in steps; all of the group if left out. Fractions of a step are allowed where both
            actions take them, as a lifting's `act` and `invariant` do.

    Returns:
        the error of every element, by the paper's normalised formula.

    Raises:
        ValueError: there is nothing to compare: no elements, results of different shape, not finite, or zero everywhere.

    Source: paper, "Equivariance Error".
    """
    act_input = group.act if act_input is None else act_input
    act_output = group.act if act_output is None else act_output
    steps = [tuple(element) for element in (group.elements() if elements is None else elements)]
    if not steps:
        raise ValueError("no elements to try")
    before = function(x)
    return EquivarianceError({e: relative_difference(function(act_input(x, e)), act_output(before, e)) for e in steps})


def invariant(output: Tensor, element: Sequence[float]) -> Tensor:
    """The action that leaves everything as it is: the output of an invariant function."""
    return output


def interpolated(group: CyclicProduct) -> Action:
    """The action that takes fractions of a step: the functions' trigonometric polynomials, moved (`t3cen.nn.shift`).

    It is the action of every angle on band-limited functions on the group, and agrees with `group.act` at whole steps.
    """
    return lambda f, element: shift(f, group, element)


def network_error(
    network: LiftedNetwork,
    rgb: Tensor,
    *,
    protocol: str = "angles",
    output: str = "features",
    lifting: Lifting | None = None,
    elements: Iterable[Sequence[float]] | None = None,
    act_output: Action | None = None,
) -> EquivarianceError:
    """The equivariance error of a network with its lifting, on images `(B, 3, H, W)`, RGB in [0, 1].

    Args:
        network: made by `t3cen.models.build`, or anything with `lifting`, `trunk`, `head`, `features` and a call.
        protocol: `"angles"` acts on the angles of the images (the paper's manifold: exact to rounding for every group element);
            `"image"` acts on them, makes images again, and feeds those: exact where no pixel changes sheet or loses its hue.
        output: `"features"` compares feature maps, moved with the group; `"logits"` compares logits, which must not move.
        lifting: whose group acts on the images, if not the network's own: how a plain network is measured. It needs
            `protocol="image"`, and `output="logits"` unless the network's features live on the same group.
        elements: the elements to try, in steps; all of the group if left out. Fractions need `output="logits"`, or an
            `act_output` that takes them.
        act_output: how an element acts on the features, `lifting.group.act` if left out; `interpolated(group)` takes
            fractions of a step. Logits must not move, so it has no place with them.

    Returns:
        the error of every element; for the image protocol also the shares of pixels that change sheet and lose their hue.

    Raises:
        ValueError: unknown protocol or output, or one that the other arguments exclude.
    """
    if protocol not in ("angles", "image"):
        raise ValueError(f"unknown protocol {protocol!r}; choose 'angles' or 'image'")
    if output not in ("features", "logits"):
        raise ValueError(f"unknown output {output!r}; choose 'features' or 'logits'")
    if protocol == "angles" and lifting is not None:
        raise ValueError("protocol='angles' acts inside the network's own lifting; another lifting needs protocol='image'")
    if output == "logits" and act_output is not None:
        raise ValueError("act_output moves features; logits must stay as they are, so leave it out or choose output='features'")
    chosen = network.lifting if lifting is None else lifting
    group, angles = chosen.group, chosen.encode(rgb)
    steps = [tuple(element) for element in (group.elements() if elements is None else elements)]
    act_output = act_output if output == "features" else invariant

    def on_angles(angles: Tensor) -> Tensor:
        features = network.trunk(chosen.lift(angles))
        return features if output == "features" else network.head(features)

    def on_decoded(angles: Tensor) -> Tensor:
        image = chosen.decode(angles)
        return network.features(image) if output == "features" else network(image)

    function = on_angles if protocol == "angles" else on_decoded
    error = equivariance_error(function, group, angles, act_input=chosen.act, act_output=act_output, elements=steps)
    if protocol == "angles":
        return error
    return EquivarianceError(
        error.per_element,
        sheet_changes={e: chosen.sheet_changes(angles, e) for e in steps},
        hue_losses={e: chosen.hue_losses(angles, e) for e in steps},
    )
