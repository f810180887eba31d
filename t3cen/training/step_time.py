"""How long a training step of a composed configuration takes on this machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import torch

from t3cen.nn.allocator import keep_freed_memory
from t3cen.training.run import make_data, make_network, make_task


def step_seconds(config: Mapping[str, Any], device: torch.device) -> float:
    """Seconds of one training step on random images: forward, backward and optimiser, no loading.

    The mean of 3 steps after 1 on a CPU, of 20 after 10 elsewhere. No file of the data set is needed.

    Args:
        config: from `t3cen.results.composition.compose`.
        device: where to.
    """
    keep_freed_memory()
    warm, timed = (1, 3) if device.type == "cpu" else (10, 20)
    data = make_data(config)
    network = make_network(config, data).to(device)
    task = make_task(config, data, network)
    optimizer = task.optimizer_factory(network.parameters())
    images = torch.rand(config["data"]["batch_size"], 3, data.image_size, data.image_size, device=device)
    labels = torch.randint(data.num_classes, (len(images),), device=device)
    count = getattr(data.augmentation, "views", 1)
    views = images if count == 1 else (images,) * count
    for step in range(warm + timed):
        if step == warm:
            _wait(device)
            started = time.perf_counter()
        optimizer.zero_grad()
        task.loss(network, views, labels).backward()
        optimizer.step()
    _wait(device)
    return (time.perf_counter() - started) / timed


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
