"""A network of another library as one of ours: a lifting, its normalisation, the network on every group element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches

from torch import Tensor, nn

from t3cen.conversion import convert
from t3cen.groups import CyclicProduct
from t3cen.models.families import accepting
from t3cen.models.network import Network, Normalize
from t3cen.models.registry import LIBRARIES
from t3cen.nn.band_limited.limit import BandLimit
from t3cen.nn.liftings.base import Lifting

Make = Callable[[str, int], nn.Module]
"""From the name of a network and the number of classes to the network, with random weights."""


class LibraryNetwork(Network):
    """Any network from `(B, 3, H, W)` to logits `(B, classes)`, called on every group element alike.

    Its logits are the feature maps, of one pixel: `trunk(lifted)` is `(B, G, classes, 1, 1)`, and `head` pools them.

    Args:
        body: the network.
        lifting, pool: before it, and over the plane and the group after it.
        num_classes: of its logits.
        mean, std: normalisation after the lifting.
    """

    def __init__(
        self, body: nn.Module, lifting: Lifting, pool: nn.Module, num_classes: int, mean: Sequence[float], std: Sequence[float]
    ) -> None:
        super().__init__()
        self.lifting, self.normalize, self.body, self.pool = lifting, Normalize(mean, std), body, pool
        self.channels = num_classes

    def trunk(self, lifted: Tensor) -> Tensor:
        logits = self.body(self.normalize(lifted).flatten(0, 1))
        return logits.unflatten(0, lifted.shape[:2])[..., None, None]

    def head(self, features: Tensor) -> Tensor:
        return self.pool(features)


def library(name: str) -> Callable[[Make], Make]:
    """Decorate what makes a library's networks, to be known to `build` by the library's name."""

    def decorate(make: Make) -> Make:
        def construct(
            model: str,
            family: str,
            group: CyclicProduct,
            lifting: Lifting,
            limit: BandLimit | None,
            *,
            pool: nn.Module,
            num_classes: int,
            mean: Sequence[float],
            std: Sequence[float],
        ) -> Network:
            body = make(model, num_classes)
            if group.order > 1:
                if family not in accepting("band_limit"):
                    known = ", ".join(accepting("band_limit"))
                    raise ValueError(
                        f"{name}/{model} has no layers of {family!r}; choose plain, gray, {known}, or a network of t3cen"
                    )
                twin = convert(body, lifting.group, lifting=lifting, band_limit=limit)
                body, lifting = twin.body, twin.lifting
            return LibraryNetwork(body, lifting, pool, num_classes, mean, std)

        LIBRARIES.add(name, construct)
        return make

    return decorate


def check_known(library: str, model: str, known: Iterable[str]) -> None:
    """Raise ValueError unless the library has a network of that name; the nearest ones are named."""
    known = list(known)
    if model not in known:
        near = get_close_matches(model, known, n=3, cutoff=0.5) or known[:3]
        raise ValueError(
            f"{library} has no network {model!r} for classification; {len(known)} are there, such as {', '.join(near)}"
        )
