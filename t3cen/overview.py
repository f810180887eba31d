"""What a network costs and how equivariant it is, beside the network it was made from, as a small table."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from t3cen.nn.liftings.base import Lifting
from t3cen.testing import equivariance_error, invariant
from t3cen.training.cost import macs, parameters

MIB = 2**20


@dataclass(frozen=True)
class Summary:
    """What `summary` measured; printed, it is a table.

    Attributes:
        columns: what is compared.
        rows: label, and one text a column.
        errors: by axis of the group, one number a column: how far the output moves when the colours of the images do.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    errors: dict[str, tuple[float, ...]]

    def __str__(self) -> str:
        errors = [(f"output moves with {axis}", *(f"{e:.1e}" for e in values)) for axis, values in self.errors.items()]
        table = [("", *self.columns), *self.rows, *errors]
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines = (
            [row[0].ljust(widths[0])] + [text.rjust(w) for text, w in zip(row[1:], widths[1:], strict=True)] for row in table
        )
        return "\n".join("  ".join(line) for line in lines)


def summary(
    network: nn.Module,
    original: nn.Module | None = None,
    *,
    images: Tensor | None = None,
    image_size: tuple[int, int] = (64, 64),
) -> Summary:
    """Parameters, arithmetic, memory and equivariance of a network with a lifting, and of the network it was made from.

    The error of an axis is `sum |f(a x) - f(x)| / sum |f(a x) + f(x)|` of the output, the worst over the axis' elements: 0 is
    invariant, 1 is unrelated. The group acts on the angles of the images; the original sees the images that these are.

    Args:
        network: e.g. from `t3cen.convert` or `t3cen.models.build`; not modified.
        original: to compare with; not modified.
        images: `(B, C, H, W)` in [0, 1] that errors are measured on; two of random colours of `image_size` if left out.
        image_size: of the image that costs are counted for.

    Raises:
        ValueError: the network has no lifting.

    Source: paper, "Equivariance Error".
    """
    lifting = getattr(network, "lifting", None)
    if not isinstance(lifting, Lifting):
        raise ValueError(f"{type(network).__name__} has no lifting; make it with t3cen.convert or t3cen.models.build")
    channels = lifting.channels
    if images is None:
        images = torch.rand(2, channels, *image_size, generator=torch.Generator().manual_seed(0))
        images = images.to(next(network.parameters()))
    compared = {"network": network} if original is None else {"network": network, "original": original}
    nets = {name: copy.deepcopy(net) for name, net in compared.items()}
    size = f"{image_size[0]} x {image_size[1]}"
    products = [macs(net, image_size, images.device, channels) for net in nets.values()]
    kept = [activations(net, image_size, channels) for net in nets.values()]
    rows = (
        ("parameters", *(f"{parameters(net):,}" for net in nets.values())),
        (f"multiply-accumulates, {size}", *(f"{number / 1e6:,.1f} M" for number in products)),
        (f"activations to train, {size}", *(f"{number / MIB:,.2f} MiB" for number in kept)),
    )
    return Summary(tuple(nets), rows, _errors(*(net.eval() for net in nets.values()), images=images))


def activations(network: nn.Module, image_size: tuple[int, int], channels: int = 3) -> int:
    """Bytes that one more image `(channels, H, W)` of a training step keeps until its backward pass.

    What a step keeps whatever its batch, such as transformed filters, is not counted.
    """
    fewer, more = 2, 4  # batch norm trains on no fewer
    return (_kept(network, (more, channels, *image_size)) - _kept(network, (fewer, channels, *image_size))) // (more - fewer)


def _kept(network: nn.Module, shape: tuple[int, ...]) -> int:
    """Bytes that a training step keeps beside parameters and buffers."""
    network = copy.deepcopy(network).train()
    own = {t.untyped_storage().data_ptr() for t in (*network.parameters(), *network.buffers())}
    kept: dict[int, Any] = {}

    def keep(tensor: Tensor) -> Tensor:
        if tensor.untyped_storage().data_ptr() not in own:
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    images = torch.full(shape, 0.5).to(next(network.parameters()))
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output = network(images)  # noqa: F841  its graph is what keeps
    return sum(storage.nbytes() for storage in kept.values())


def _errors(network: Any, *others: nn.Module, images: Tensor) -> dict[str, tuple[float, ...]]:
    """By axis of the network's group, the worst error of each network."""
    lifting = network.lifting
    group, angles = lifting.group, lifting.encode(images)
    functions: list[Callable[[Tensor], Tensor]] = [lambda a: _first(network.head(network.trunk(lifting.lift(a))))]
    functions += [lambda a, net=net: _first(net(lifting.decode(a))) for net in others]  # type: ignore[misc]
    found = {}
    for axis, order in enumerate(group.orders):
        if order > 1:
            steps = [tuple(step if i == axis else 0 for i in range(len(group.orders))) for step in range(1, order)]
            name = f"{group.names[axis] if group.names else f'axis {axis}'} ({order})"
            errors = (
                equivariance_error(f, group, angles, act_input=lifting.act, act_output=invariant, elements=steps).worst
                for f in functions
            )
            found[name] = tuple(errors)
    return found


def _first(output: Any) -> Tensor:
    return next(leaf for leaf in tree_leaves(output) if isinstance(leaf, Tensor))
