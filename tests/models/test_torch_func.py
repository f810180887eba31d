"""Whole networks under torch.func: gradients of every sample, tangents, parameters of one's own."""

import pytest
import torch
from torch.func import functional_call, grad, jacfwd, jacrev, jvp, vmap

from t3cen.models import build

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated")  # of functorch itself


def made(name, group, options):
    torch.manual_seed(0)
    network = build(name, group, 4, width=4, **options).double()
    images = torch.rand(3, 3, 28, 28, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    network(images)  # statistics that are not the initial ones
    return network.eval(), images


@pytest.mark.parametrize(
    ("name", "group", "options"),
    [
        ("resnet18", "h3", {"backend": "fourier"}),
        ("resnet18", "h3", {"backend": "direct"}),
        ("z2cnn", "h3", {"band_limit": True}),
        ("z2cnn", "", {"family": "plain"}),
    ],
    ids=str,
)
def test_gradients_of_every_sample_tangents_and_parameters_of_ones_own(name, group, options):
    network, images = made(name, group, options)
    parameters = dict(network.named_parameters())

    def loss(parameters, image):
        return functional_call(network, parameters, (image[None],)).square().sum()

    got = vmap(grad(loss), (None, 0))(parameters, images)
    for i, image in enumerate(images):
        network.zero_grad()
        network(image[None]).square().sum().backward()
        for key, parameter in network.named_parameters():
            torch.testing.assert_close(got[key][i], parameter.grad, rtol=1e-8, atol=1e-10)
    direction = {key: p.detach().sin() for key, p in parameters.items()}
    _, tangent = jvp(lambda parameters: loss(parameters, images[0]), (parameters,), (direction,))
    want = sum((got[key][0] * value).sum() for key, value in direction.items())
    torch.testing.assert_close(tangent, want, rtol=1e-8, atol=1e-10)


class Cube(torch.autograd.Function):
    """A Function of no business of ours, with every rule PyTorch asks for."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        return 3 * ctx.saved_tensors[0] ** 2 * gradient

    @staticmethod
    def jvp(ctx, tangent):
        return 3 * ctx.saved_tensors[0] ** 2 * tangent


def test_second_derivatives_need_reverse_mode_once():
    """What docs/architecture.md says of PyTorch; where this fails, it has learnt forward mode over forward mode."""
    x = torch.tensor(2.0, dtype=torch.float64)
    assert torch.func.hessian(Cube.apply)(x) == jacrev(jacfwd(Cube.apply))(x) == 12
    assert jacfwd(jacfwd(Cube.apply))(x) == 0
