"""Memory and speed of training, each network measured in a process of its own.

`python -m t3cen.analysis.training_cost '{"backbone": "resnet18", ...}'` measures one and prints JSON; `measure` starts it.
Memory that a network once had is not given back to the system, so a process can be asked for its peak only once.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch.nn import functional as F

from t3cen.models import build
from t3cen.training.allocator import keep_freed_memory
from t3cen.training.cost import parameters, peak_memory

MIB = 2**20


@dataclass(frozen=True)
class Setting:
    """One network and how it is measured.

    Attributes:
        backbone, group, family, backend, width: of `t3cen.models.build`.
        image_size, batch_size, num_classes: of random images; the paper names neither resolution nor batch.
        dropped, averaged: iterations left out first, and averaged after (paper: 100 and 100).
        device: `"cpu"` or `"cuda"`.
        threads: of the processor; None is torch's choice.
        precision: `"float32"`; `"tf32"`, its products in TF32 on a GPU; `"bf16"`, an autocast; None is torch's choice.
        compile: whether the network runs through `torch.compile`.
        seconds: after about which averaging ends before `averaged` iterations; None does not end it.
    """

    group: str
    family: str = "t3cen"
    backend: str = "auto"
    backbone: str = "resnet18"
    width: int | None = None
    image_size: int = 96
    batch_size: int = 16
    num_classes: int = 10
    dropped: int = 100
    averaged: int = 100
    device: str = "cpu"
    threads: int | None = None
    precision: str | None = None
    compile: bool = False
    seconds: float | None = None


def measure(setting: Setting, limit: float = 600.0) -> dict[str, Any]:
    """Train for `dropped + averaged` steps in a fresh process.

    Args:
        setting: what to measure.
        limit: seconds after which the process is stopped.

    Returns:
        `memory_mib`, `iterations_per_second`, `parameters`, `device`; or `failed`, one line that says why there is no number:
        over the time limit, out of memory, a network that does not exist.
    """
    command = [sys.executable, "-m", "t3cen.analysis.training_cost", json.dumps(asdict(setting))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"not finished in {limit:.0f} seconds"}
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()
        return {"failed": reason[-1] if reason else f"the process ended with status {done.returncode}"}
    return json.loads(done.stdout)


def measure_here(setting: Setting) -> dict[str, Any]:
    """The same in this process, whose memory so far counts on a processor.

    The step is the paper's: forward, cross-entropy, backward, Adam. `memory_mib` is torch's peak on a GPU (nvidia-smi, which
    the paper read, adds the driver's few hundred MiB); on a processor it is the peak resident size less what the process held
    before the network was built.
    """
    from t3cen.training.provenance import device_name  # here: it needs the suite

    if setting.threads is not None:
        torch.set_num_threads(setting.threads)
    if setting.dropped < 0 or setting.averaged < 1:
        raise ValueError(f"averaged must be at least 1 and dropped at least 0, got {setting.averaged} and {setting.dropped}")
    keep_freed_memory()
    device = torch.device(setting.device)
    rng = torch.Generator().manual_seed(0)
    images = torch.rand(setting.batch_size, 3, setting.image_size, setting.image_size, generator=rng).to(device)
    labels = torch.randint(setting.num_classes, (setting.batch_size,), generator=rng).to(device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device) if device.type == "cuda" else peak_memory(device)
    if setting.precision is not None:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = setting.precision == "tf32"
    made = build(
        setting.backbone, setting.group, setting.num_classes, family=setting.family, backend=setting.backend, width=setting.width
    ).to(device)
    optimizer = torch.optim.Adam(made.parameters(), lr=1e-3)
    network = torch.compile(made, dynamic=False) if setting.compile else made

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, torch.bfloat16, enabled=setting.precision == "bf16"):
            loss = F.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()

    averaged = setting.averaged
    if setting.seconds is not None:
        one = _clock(step, setting.dropped, 1, device)
        averaged = max(1, min(averaged, int(setting.seconds / one)))
    seconds = _clock(step, 0 if setting.seconds is not None else setting.dropped, averaged, device)
    return {
        "memory_mib": (peak_memory(device) - before) / MIB,
        "iterations_per_second": averaged / seconds,
        "parameters": parameters(made),
        "device": device_name(device),
    }


def seconds_of(call: Callable[[], Any], times: int, device: torch.device) -> float:
    """Seconds of one call: the mean of `times`, after three that do not count."""
    return _clock(call, 3, times, device) / times


def _clock(step: Any, dropped: int, averaged: int, device: torch.device) -> float:
    """Seconds of `averaged` steps, after `dropped` ones."""

    def settled() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    for _ in range(dropped):
        step()
    start = settled()
    for _ in range(averaged):
        step()
    return settled() - start


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure_here(Setting(**json.loads(sys.argv[1])))) + "\n")
