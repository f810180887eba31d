"""What a network costs: parameters, arithmetic, memory."""

from __future__ import annotations

import resource
from pathlib import Path

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


def parameters(network: nn.Module) -> int:
    """Trainable parameters."""
    return sum(p.numel() for p in network.parameters() if p.requires_grad)


def macs(network: nn.Module, image_size: tuple[int, int], device: torch.device | str = "cpu", channels: int = 3) -> int:
    """Multiply-accumulates of one forward pass of one image `(channels, H, W)`, convolutions and matrix products.

    Transforms of filters are among them, as in a step of training.
    """
    was_training = network.training
    network.eval()
    try:
        with torch.enable_grad(), FlopCounterMode(display=False) as counter:
            network(torch.full((1, channels, *image_size), 0.5, device=device))
    finally:
        network.train(was_training)
    return counter.get_total_flops() // 2


def peak_memory(device: torch.device) -> int:
    """Bytes: the device's peak allocation on CUDA, this process's peak resident size elsewhere."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage's figure is inherited from the process that started this one; the kernel's own high-water mark is not.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS, in bytes
