"""What a training step costs a GPU at least: bytes, arithmetic and launches of its operations, counted without running one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.flop_counter import flop_registry

from t3cen.ops import DECOMPOSITIONS, devices, gpu

LAUNCH_SECONDS = 4e-6
"""Between the starts of two kernels that one thread of Python launches, at best."""
KERNELS: dict[str, dict[str, Callable[..., Any]]] = {
    "matmul": {"fourier_conv2d": gpu.forward, "fourier_conv2d_backward": gpu.backward},
    "separate": {"fourier_conv2d": gpu.forward_separate, "fourier_conv2d_backward": gpu.backward_separate},
}
"""Of the products that are not PyTorch's convolution in groups."""
_FREE = frozenset({"empty", "empty_like", "new_empty", "detach", "empty_strided", "lift_fresh", "_assert_async"})
"""Operations that move nothing."""


@dataclass(frozen=True)
class Gpu:
    """Published peaks: bytes a second of memory, and floating-point operations a second by precision, without sparsity."""

    name: str
    bandwidth: float
    float32: float
    tf32: float
    bf16: float


# NVIDIA's data sheets: L40; H100 SXM; H200 SXM.
GPUS = {
    "L40": Gpu("L40", 864e9, 90.5e12, 90.5e12, 181e12),
    "H100": Gpu("H100", 3.35e12, 67e12, 494e12, 989e12),
    "H200": Gpu("H200", 4.8e12, 67e12, 494e12, 989e12),
}


@dataclass(frozen=True)
class Work:
    """Of one training step: each operation's bytes read and written and its floating-point operations, one launch each."""

    operations: tuple[tuple[int, int], ...]

    @property
    def bytes(self) -> int:
        return sum(moved for moved, _ in self.operations)

    @property
    def flops(self) -> int:
        return sum(flops for _, flops in self.operations)

    @property
    def launches(self) -> int:
        return len(self.operations)

    def seconds(self, on: Gpu, precision: str = "float32") -> float:
        """Each operation as long as its memory traffic, its arithmetic at the peak, or its launch, whichever is longest."""
        peak = getattr(on, precision)
        return sum(max(moved / on.bandwidth, flops / peak, LAUNCH_SECONDS) for moved, flops in self.operations)


class _Count(TorchDispatchMode):
    """Notes each operation, and of this project's own operators what they were called with: those run as several."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[tuple[int, int]] = []
        self.operators: list[tuple[Any, tuple[Any, ...]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in DECOMPOSITIONS:
            self.operators.append((func, args))
            return func(*args)
        if func.namespace == "aten" and func._can_decompose():
            with self:
                return func.decompose(*args, **(kwargs or {}))
        out = func(*args, **(kwargs or {}))
        if not func.is_view and func.overloadpacket.__name__ not in _FREE:
            tensors = [t for t in (*tree_leaves((args, kwargs)), *tree_leaves(out)) if isinstance(t, Tensor)]
            self.operations.append((sum(t.numel() * t.element_size() for t in tensors), _flops(func, args, kwargs or {}, out)))
        return out


def _operations(
    call: Callable[[], Any], kernels: Mapping[str, Callable[..., Any]], known: dict[Any, list[tuple[int, int]]]
) -> list[tuple[int, int]]:
    """Those of `call`, with those of each operator in its place; what an operator does for some shapes is found out once.

    Its operations are counted afterwards and not inside of the call, where neither gradients nor `torch.func` work.
    """
    with _Count() as counted:
        call()
    operations = list(counted.operations)
    for func, args in counted.operators:
        key = func, repr(tree_map(_seen, args))
        if key not in known:
            kernel = kernels.get(func.name().partition("::")[2], DECOMPOSITIONS[func])
            known[key] = _operations(partial(kernel, *tree_map(_like, args)), kernels, known)
        operations += known[key]
    return operations


def _seen(value: Any) -> Any:
    return (value.shape, value.stride(), value.dtype) if isinstance(value, Tensor) else value


def _like(value: Any) -> Any:
    """A tensor of the same shape, without its graph."""
    return (
        torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta") if isinstance(value, Tensor) else value
    )


def _flops(func: Any, args: Any, kwargs: Any, out: Any) -> int:
    if func is torch.ops.aten.convolution_backward.default:
        # PyTorch's own count leaves out that a convolution may be in groups.
        gradient, _, filters, *_, needed = args
        return 2 * gradient.numel() * filters[0].numel() * sum(needed[:2])
    formula = flop_registry.get(func.overloadpacket)
    return int(formula(*args, **kwargs, out_val=out)) if formula else 0


def training_step(network: nn.Module, batch: int, size: int, products: str = "convolution") -> Work:
    """The work of forward, cross-entropy and backward of `batch` images of `size` x `size`, in float32 and in eager operations,
    with the products of `t3cen.ops.devices.PRODUCTS`.

    Tensors on the meta device have shapes and no numbers, so a network of any size takes a second; `network` may be on it
    too. Adam's update is four tensors read and three written a parameter, as one launch.
    """
    trained = dict(network.named_parameters())
    named = [*trained.items(), *network.named_buffers()]
    state = {name: torch.empty_like(value, device="meta").requires_grad_(name in trained) for name, value in named}
    images = torch.empty(batch, 3, size, size, device="meta")
    labels = torch.empty(batch, dtype=torch.long, device="meta")

    def step() -> None:
        F.cross_entropy(functional_call(network, state, (images,)), labels).backward()

    update = 7 * sum(value.numel() * value.element_size() for value in trained.values())
    return Work((*_operations(step, KERNELS.get(products, {}), {}), (update, 0)))


def roofline_seconds(device: str) -> Callable[[str, Mapping[str, Any]], float] | None:
    """Seconds that a training step takes at least on a GPU with published peaks, in float32; None for any other device.

    Args:
        device: a part of its name, or its name a part of it.

    Returns:
        a function of the backend of the group convolutions, in place of the configuration's, and the configuration. `auto`
        chooses as on that GPU.
    """
    from t3cen.training.run import make_data, make_network  # here: the rest of this file needs no data sets

    found = named(device)
    if found is None:
        return None
    facts = next((facts for name, facts in devices.everything().items() if found.name in name), devices.everything()["cuda"])
    known: dict[str, float] = {}

    def seconds(backend: str, config: Mapping[str, Any]) -> float:
        data = make_data(config)
        model = {**config["model"], "backend": backend}
        images = config["data"]["batch_size"] * getattr(data.augmentation, "views", 1)
        with devices.taken_for(facts), torch.device("meta"):
            network = make_network({**config, "model": model}, data)
            # the number of classes is next to nothing, and `auto` is often the same as another choice
            runs = [layer.resolved_backend for layer in network.modules() if hasattr(layer, "resolved_backend")]
            key = json.dumps([config["backbone"], {**model, "backend": runs}, data.image_size, images], sort_keys=True)
            if key not in known:
                known[key] = training_step(network, images, data.image_size, facts.products).seconds(found)
        return known[key]

    return seconds


def named(device: str) -> Gpu | None:
    """The GPU of which `device` is a part of the name, or whose name is a part of it."""
    return next((gpu for name, gpu in GPUS.items() if name.lower() in device.lower() or device.lower() in name.lower()), None)
