"""A trained network as a `torch.export` program or an ONNX file, for batches and images of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import Dim, ExportedProgram
from torch.fx.experimental import _config as tracing
from torch.utils._pytree import MappingKey, tree_flatten_with_path, tree_unflatten

from t3cen.extras import require
from t3cen.nn.inference import for_inference
from t3cen.ops import DECOMPOSITIONS

OLDEST = "2.14"
"""PyTorch that exports. Older ones take what holds for the traced image, such as even sides, for a condition on all."""
LEAST_SIDE = 64
"""Of the image that is traced: a map with one pixel would be taken for one that always has."""


def export_program(network: nn.Module, image_size: tuple[int, int]) -> ExportedProgram:
    """The network, ready for inference (`t3cen.nn.inference`), as a `torch.export` program.

    It takes `(B, C, H, W)`, and returns what the network returns. B, H and W are free, from the smallest image on of which no map
    is one pixel high or wide. In float32 `program.module(check_guards=False)` takes smaller ones too: where a layer strides,
    PyTorch writes down that its maps have more than a pixel, and nothing depends on it. The program is made of PyTorch's own
    operations. `torch.jit.trace` of a network in evaluation mode takes other sizes too, but needs this package where it runs.

    Args:
        network: e.g. from `t3cen.models.build`; it is not modified.
        image_size: height and width of images that the network takes.

    Raises:
        RuntimeError: PyTorch is older than 2.14.
    """
    if torch.__version__ < OLDEST:
        raise RuntimeError(f"exports need PyTorch {OLDEST} or newer, this is {torch.__version__}; pip install 'torch>={OLDEST}'")
    # A batch of one would be taken for a constant.
    sides = [max(side, LEAST_SIDE) for side in image_size]
    channels = getattr(getattr(network, "lifting", None), "channels", 3)
    example = torch.rand(2, channels, *sides, generator=torch.Generator().manual_seed(0)).to(next(network.parameters()))
    free = dict.fromkeys((0, 2, 3), Dim.DYNAMIC)
    # Without this a program would ask that no side of any map become 1.
    with tracing.patch(backed_size_oblivious=True):  # type: ignore[attr-defined]
        program = torch.export.export(for_inference(network, example), (example,), dynamic_shapes=(free,))
        return program.run_decompositions(DECOMPOSITIONS)


def export_onnx(network: nn.Module, image_size: tuple[int, int], path: str | Path) -> Path:
    """The same as an ONNX file with input `image`, in [0, 1], and output `logits`.

    Where the network returns a dictionary of tensors, outputs have the names of its keys; where a tuple, `logits0`, `logits1`.

    Raises:
        MissingExtra: `onnx` or `onnxscript` is missing; `t3cen[export]` installs them.
        RuntimeError: PyTorch is older than 2.14.
    """
    require("export")
    program = export_program(network, image_size)
    names = {"input_names": ["image"], "output_names": _output_names(program)}
    torch.onnx.export(program, (), str(path), **names, dynamo=True, verbose=False)  # type: ignore[arg-type]
    return Path(path)


def _output_names(program: ExportedProgram) -> list[str]:
    assert program.call_spec.out_spec is not None
    count = program.call_spec.out_spec.num_leaves
    paths = [path for path, _ in tree_flatten_with_path(tree_unflatten([0] * count, program.call_spec.out_spec))[0]]
    return ["_".join(_text(key) for key in path) or "logits" for path in paths]


def _text(key: Any) -> str:
    return str(key.key) if isinstance(key, MappingKey) else f"logits{getattr(key, 'idx', key)}"
