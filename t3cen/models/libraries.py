"""Networks of other libraries, by the library's name and theirs: `torchvision/resnet18`, `timm/convnext_tiny`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from torch import Tensor, nn

from t3cen.groups import CyclicProduct
from t3cen.models.network import Network, Normalize
from t3cen.models.registry import LIBRARIES
from t3cen.nn.liftings.base import Lifting

Make = Callable[[str, int], nn.Module]
"""From the name of a network and the number of classes to the network, with random weights."""


class LibraryNetwork(Network):
    """Any network from `(B, 3, H, W)` to logits `(B, classes)`, called on every group element alike.

    Its logits are the feature maps, of one pixel: `trunk(lifted)` is `(B, G, classes, 1, 1)`, and `head` pools them.

    Args:
        body: the network.
        lifting, pool: before it, and over the group after it.
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
        return self.pool(features.mean(dim=(-2, -1)))


def _library(name: str) -> Callable[[Make], Make]:
    """Decorate what makes a library's networks, to be known to `build` by the library's name."""

    def decorate(make: Make) -> Make:
        def construct(
            model: str,
            group: CyclicProduct,
            family: str,
            width: int | None,
            recompute: bool,
            *,
            lifting: Lifting,
            pool: nn.Module,
            num_classes: int,
            mean: Sequence[float],
            std: Sequence[float],
            **_: Any,
        ) -> Network:
            if width is not None:
                raise ValueError(f"{name}/{model} has widths of its own, got width={width}; leave it out (model.width=null)")
            if recompute:
                raise ValueError(f"{name}/{model} keeps its activations: recompute must be false")
            if group.order > 1:
                raise ValueError(
                    f"{name}/{model} is built as it is, without a colour group, got family {family!r} with {group}; "
                    "choose model=plain, or a network of t3cen such as resnet18"
                )
            return LibraryNetwork(make(model, num_classes), lifting, pool, num_classes, mean, std)

        LIBRARIES.add(name, construct)
        return make

    return decorate


def _check(library: str, model: str, known: Iterable[str]) -> None:
    known = list(known)
    if model not in known:
        near = get_close_matches(model, known, n=3, cutoff=0.5) or known[:3]
        raise ValueError(
            f"{library} has no network {model!r} for classification; {len(known)} are there, such as {', '.join(near)}"
        )


@_library("torchvision")
def torchvision(model: str, num_classes: int) -> nn.Module:
    """A classifier of torchvision."""
    from torchvision import models

    _check("torchvision", model, models.list_models(module=models))
    # these two return logits of auxiliary classifiers too, unless told
    options = {"aux_logits": False, "init_weights": True} if model in ("googlenet", "inception_v3") else {}
    return models.get_model(model, weights=None, num_classes=num_classes, **options)


@_library("timm")
def timm(model: str, num_classes: int) -> nn.Module:
    """A classifier of timm, which is installed for it: `pip install timm`."""
    try:
        import timm as library
    except ModuleNotFoundError as error:
        raise ValueError(f"the network timm/{model} needs the package timm: pip install timm") from error

    _check("timm", model, library.list_models())
    return library.create_model(model, pretrained=False, num_classes=num_classes)
