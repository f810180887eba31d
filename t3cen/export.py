"""A trained network as a `torch.export` program or an ONNX file, with a batch of any size."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

from t3cen.extras import require
from t3cen.nn.inference import for_inference


def export_program(network: nn.Module, image_size: tuple[int, int]) -> ExportedProgram:
    """The network, ready for inference (`t3cen.nn.inference`), as a `torch.export` program from `(B, 3, H, W)` to logits, B free.

    Args:
        network: e.g. from `t3cen.models.build`; it is not modified.
        image_size: height and width, fixed in the program.
    """
    frozen, example = _prepared(network, image_size)
    return torch.export.export(frozen, (example,), dynamic_shapes=({0: Dim("batch")},))


def export_onnx(network: nn.Module, image_size: tuple[int, int], path: str | Path) -> Path:
    """The same as an ONNX file with input `image`, RGB in [0, 1], and output `logits`.

    Raises:
        MissingExtra: `onnx` or `onnxscript` is missing; `t3cen[export]` installs them.
    """
    require("export")
    frozen, example = _prepared(network, image_size)
    torch.onnx.export(
        frozen,
        (example,),
        str(path),
        input_names=["image"],
        output_names=["logits"],
        dynamic_shapes=({0: Dim("batch")},),
        dynamo=True,
        verbose=False,
    )
    return Path(path)


def _prepared(network: nn.Module, image_size: tuple[int, int]) -> tuple[nn.Module, Tensor]:
    # A batch of one would be taken for a constant.
    generator = torch.Generator().manual_seed(0)
    example = torch.rand(2, 3, *image_size, generator=generator).to(next(network.parameters()))
    return for_inference(network, example), example
