"""Networks whose weights are half precision: every family and backend runs, and gives nearly the same logits."""

import pytest
import torch

from t3cen.export import export_program
from t3cen.models import build
from t3cen.nn.inference import for_inference

VARIANTS = [
    ("h4", {"backend": "direct"}),
    ("h4", {"backend": "fourier"}),
    ("h3", {"family": "ceconv", "separable": True, "backend": "direct"}),
    ("h2s3", {"family": "lcer"}),
    ("", {"family": "plain", "backend": "direct"}),
    ("h3", {"band_limit": True}),
]
DTYPES = [(torch.bfloat16, 3e-2), (torch.float16, 5e-3)]


def network(group="h4", **options):
    torch.manual_seed(0)
    return build("resnet18", group, 4, width=16, **options).eval()


RGB = torch.rand(2, 3, 8, 8, generator=torch.Generator().manual_seed(0))


@pytest.mark.fast("*bfloat16*")
@pytest.mark.parametrize(("dtype", "bound"), DTYPES, ids=str)
@pytest.mark.parametrize(("group", "options"), VARIANTS, ids=str)
def test_logits_are_nearly_those_of_single_precision(group, options, dtype, bound):
    agrees(network(group, **options), dtype, bound)


@pytest.mark.fast("*bfloat16*")
@pytest.mark.parametrize(("dtype", "bound"), DTYPES, ids=str)
def test_logits_of_every_family(family, group, dtype, bound):
    agrees(network(group, family=family), dtype, bound)


@torch.no_grad()
def agrees(net, dtype, bound):
    want = net(RGB)
    net.to(dtype)
    for rgb in (RGB, RGB.to(dtype)):
        for made in (net, for_inference(net, rgb)):
            got = made(rgb)
            assert got.dtype == dtype
            assert (got - want).abs().max() < bound * want.abs().max()


def test_training_reaches_every_parameter():
    net = network(family="ceconv", backend="direct").bfloat16().train()
    net(RGB.bfloat16()).square().sum().backward()
    assert all(torch.isfinite(p.grad).all() and p.grad.dtype == torch.bfloat16 for p in net.parameters())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@torch.no_grad()
def test_exported():
    net = network().bfloat16()
    program = export_program(net, (16, 16)).module()
    rgb = torch.rand(3, 3, 24, 16, generator=torch.Generator().manual_seed(0)).bfloat16()
    torch.testing.assert_close(program(rgb), net(rgb), rtol=0.05, atol=0.05)
    # Casts ask how maps lie in memory, which is another question where they are one pixel; export_program says so.
    with pytest.raises(AssertionError, match="Guard failed"):
        program(RGB.bfloat16())
