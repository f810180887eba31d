"""Recomputation changes memory, and nothing else."""

import copy
import os
import subprocess
import sys

import pytest
import torch
from torch import nn

from t3cen.models import build
from t3cen.nn.checkpointing import CheckpointedSequential

PEAK = """
import sys
from pathlib import Path
import torch
from t3cen.models import build

def resident(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))

torch.set_num_threads(1)
torch.manual_seed(0)
network = build("resnet44", "h4", 4, width=16, recompute=sys.argv[1] == "recompute")
network(torch.rand(2, 3, 8, 8)).sum().backward()  # libraries make room for themselves once
images = torch.rand(8, 3, 48, 48)
before = resident("VmRSS")
network(images).square().mean().backward()
print(resident("VmHWM") - before)
"""


def images(count=4, size=28, seed=0):
    return torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(seed))


def trained(network, steps=3):
    """Losses, gradients and state after a few optimiser steps."""
    optimizer = torch.optim.SGD(network.parameters(), 0.05, momentum=0.9)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = network(images(seed=step)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses, [p.grad for p in network.parameters()], network.state_dict()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("resnet18", {"group": "h4"}),
        ("resnet44", {"group": "h2s2"}),
        ("resnet50", {"group": "l3", "band_limit": True}),
        ("resnet18", {"group": "", "family": "plain"}),
        ("z2cnn", {"group": "h4"}),
        ("z2cnn", {"group": "h3s3", "band_limit": True}),
        ("z2cnn", {"group": "h3", "family": "ceconv"}),
    ],
)
def test_training_is_the_same_bit_for_bit(name, options):
    torch.manual_seed(0)
    kept = build(name, num_classes=4, width=8, **options)
    made_again = build(name, num_classes=4, width=8, recompute=True, **options)
    made_again.load_state_dict(kept.state_dict())
    want, got = trained(kept), trained(made_again)
    torch.testing.assert_close(got, want, rtol=0, atol=0)
    assert {int(value) for key, value in got[2].items() if key.endswith("num_batches_tracked")} == {3}
    with torch.no_grad():
        torch.testing.assert_close(made_again.eval()(images()), kept.eval()(images()), rtol=0, atol=0)


def test_random_numbers_and_buffers_are_drawn_and_counted_once():
    parts = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4, momentum=None), nn.Dropout(0.5), nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4)
    networks = nn.Sequential(*copy.deepcopy(parts)), CheckpointedSequential(*copy.deepcopy(parts), starts=(0, 3))
    for _ in range(2):
        for network in networks:
            torch.manual_seed(0)
            network(images()).square().mean().backward()
    kept, made_again = ([[p.grad for p in n.parameters()], n.state_dict()] for n in networks)
    torch.testing.assert_close(made_again, kept, rtol=0, atol=0)


@pytest.mark.slow
def test_a_training_step_takes_less_than_half_the_memory():
    # The C library then gives back every block that is freed, and resident memory is memory in use.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}

    def peak(word):
        command = [sys.executable, "-c", PEAK, word]
        return int(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)

    assert peak("recompute") < 0.5 * peak("keep")
