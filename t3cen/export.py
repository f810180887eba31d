"""A trained network as a `torch.export` program or an ONNX file, for batches and images of any size."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from torch.export import Dim, ExportedProgram
from torch.fx.experimental import _config as tracing

from t3cen.extras import require
from t3cen.nn.inference import for_inference
from t3cen.ops import DECOMPOSITIONS

LEAST_SIDE = 64
"""Of the image that is traced: a map with one pixel would be taken for one that always has."""


def export_program(network: nn.Module, image_size: tuple[int, int]) -> ExportedProgram:
    """The network, ready for inference (`t3cen.nn.inference`), as a `torch.export` program from `(B, 3, H, W)` to logits.

    B, H and W are free, from the smallest image on that the network takes. The program is made of PyTorch's own operations.
    `torch.jit.trace` of a network in evaluation mode takes other sizes too, but needs this package where it runs.

    Args:
        network: e.g. from `t3cen.models.build`; it is not modified.
        image_size: height and width of images that the network takes.
    """
    # A batch of one would be taken for a constant.
    sides = [max(side, LEAST_SIDE) for side in image_size]
    example = torch.rand(2, 3, *sides, generator=torch.Generator().manual_seed(0)).to(next(network.parameters()))
    free = dict.fromkeys((0, 2, 3), Dim.DYNAMIC)
    # Without this a program would ask that no side of any map become 1.
    with tracing.patch(backed_size_oblivious=True):  # type: ignore[attr-defined]
        program = torch.export.export(for_inference(network, example), (example,), dynamic_shapes=(free,))
        return program.run_decompositions(DECOMPOSITIONS)


def export_onnx(network: nn.Module, image_size: tuple[int, int], path: str | Path) -> Path:
    """The same as an ONNX file with input `image`, RGB in [0, 1], and output `logits`.

    Raises:
        MissingExtra: `onnx` or `onnxscript` is missing; `t3cen[export]` installs them.
    """
    require("export")
    program = export_program(network, image_size)
    names = {"input_names": ["image"], "output_names": ["logits"]}
    torch.onnx.export(program, (), str(path), **names, dynamo=True, verbose=False)  # type: ignore[arg-type]
    return Path(path)
