"""What a converted network is: a lifting, the network on every element of the group, a pooling over the group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from t3cen.groups import CyclicProduct
from t3cen.models.network import Network
from t3cen.nn.liftings.base import Lifting


@dataclass(frozen=True)
class Conversion:
    """What became of a network.

    Attributes:
        before, after: number of parameters.
        factor: of the channels; 1 keeps them.
        mixing: layers that mix the elements of the group.
        alike: convolutions and linear layers that treat each element alike, the last ones among them.
    """

    before: int
    after: int
    factor: float
    mixing: tuple[str, ...]
    alike: tuple[str, ...]

    def __str__(self) -> str:
        change = self.after / self.before - 1
        nearest = "" if abs(change) <= 0.03 or self.factor == 1 else ", the nearest that its channels allow"
        return (
            f"{self.before:,} -> {self.after:,} parameters ({change:+.1%}{nearest}), {self.factor:.3g} times the channels; "
            f"{len(self.mixing)} layers mix the group's elements, {len(self.alike)} treat them alike"
        )


class Converted(Network):
    """A network made colour-equivariant by `t3cen.convert`.

    `forward(rgb)` takes `(B, 3, H, W)`, RGB in [0, 1], and returns what the original returns (a tensor, or a dictionary or tuple
    of them), pooled over the group. `on_lifted(lifted)`, from `(B, G, 3, H, W)`, returns it for every element, `(B, G, ...)`, and
    is equivariant.

    Args:
        lifting: from images to functions on the group.
        normalize: what the original's images went through, on `(B, G, C, H, W)`.
        body: the network, on `(B G, C, H, W)`.
        pool: from `(B, G, ...)` to `(B, ...)`.
        conversion: what became of the original.
    """

    def __init__(self, lifting: Lifting, normalize: nn.Module, body: nn.Module, pool: nn.Module, conversion: Conversion) -> None:
        super().__init__()
        self.lifting, self.normalize, self.body, self.pool = lifting, normalize, body, pool
        self.conversion = conversion

    @property
    def group(self) -> CyclicProduct:
        """The group."""
        return self.lifting.group

    def on_lifted(self, lifted: Tensor) -> Any:
        """`(B, G, C, H, W)` to the original's output for every element, `(B, G, ...)`."""
        out = self.body(self.normalize(lifted).flatten(0, 1))
        return tree_map_only(Tensor, lambda t: t.unflatten(0, (-1, self.group.order)), out)

    def trunk(self, lifted: Tensor) -> Any:
        """`on_lifted`, under the name of `Network`."""
        return self.on_lifted(lifted)

    def head(self, features: Any) -> Any:
        """The outputs of the elements, pooled over the group."""
        return tree_map_only(Tensor, self.pool, features)

    def extra_repr(self) -> str:
        return str(self.conversion)
