"""Networks: published sizes, shapes, gradients, equivariance, clear refusals."""

import copy
import pickle

import pytest
import torch

from t3cen.models import build, names, registry
from t3cen.models.families import FAMILIES, accepting
from t3cen.models.network import Network
from t3cen.models.registry import architecture
from t3cen.models.widths import fixed_parameters
from t3cen.registry import Registry
from t3cen.testing import equivariance_error, network_error
from t3cen.training.cost import macs, parameters

PUBLISHED = [
    ("resnet44", "", 4, 2_635_684),
    ("resnet44", "h3", 4, 2_551_691),
    ("resnet44", "h4", 4, 2_632_932),
    ("resnet18", "", 5, 11_171_397),
    ("resnet18", "l3", 5, 11_082_597),
    ("resnet18", "l4", 5, 11_167_045),
    ("resnet50", "", 2, 23_504_450),
    ("resnet50", "s3", 2, 23_288_117),
    ("resnet50", "h4", 2, 23_477_570),
    ("resnet50", "h4s3", 2, 23_035_726),
]
PRODUCTS = [("t3cen", "h2s3"), ("t3cen_rgb", "h2l2"), ("lcer", "h2s3")]


def small(name, group="", **options):
    return build(name, group, 5, width=8, **options)


def images(count=2, size=28, seed=0, dtype=torch.float32):
    return torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize(("name", "group", "classes", "count"), PUBLISHED)
def test_parameters_are_the_published_ones(name, group, classes, count):
    family = "t3cen" if group else "plain"
    assert parameters(build(name, group, classes, family=family)) == count


@pytest.mark.parametrize("name", names())
def test_the_plain_network_is_the_trivial_group_without_lifting(name):
    torch.manual_seed(0)
    plain = small(name, family="plain").eval()
    lifted = small(name, family="t3cen").eval()
    lifted.load_state_dict(plain.state_dict())
    torch.testing.assert_close(lifted(images()), plain(images()), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", names())
def test_shapes_and_a_finite_gradient_for_every_parameter(name, family, group):
    reaches_every_parameter(small(name, group, family=family))


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize(("family", "group"), PRODUCTS)
def test_product_groups_reach_every_parameter(name, family, group):
    reaches_every_parameter(small(name, group, family=family))


def reaches_every_parameter(network):
    logits = network(images(3, 30))
    assert logits.shape == (3, 5)
    logits.square().sum().backward()
    for parameter_name, parameter in network.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert torch.isfinite(parameter.grad).all(), parameter_name


def trained(network, steps=3):
    """A few optimiser steps, so that weights and running statistics are not the initial ones."""
    optimizer = torch.optim.SGD(network.parameters(), 0.02)
    network.train()
    for step in range(steps):
        optimizer.zero_grad()
        dtype = next(network.parameters()).dtype
        network(images(4, seed=step, dtype=dtype)).square().mean().backward()
        optimizer.step()
    return network


GROUPS = ["h3", "h4", "s4", "l4", "h4s4", "s4l4", "s16", "h2s3l4"]


@pytest.mark.fast("train-h2s3l4-dtype1-*", "eval-[hsl]4-dtype0-*")
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 5e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("group", [*GROUPS, "h4s4l4"])
@pytest.mark.parametrize("mode", ["train", "eval"])
def test_trunk_is_equivariant_on_angles(group, dtype, bound, mode):
    torch.manual_seed(1)
    network = trained(build("resnet18", group, 5, width=16).to(dtype)).train(mode == "train")
    with torch.no_grad():
        error = network_error(network, images(2, 12, dtype=dtype))
    assert error.worst <= bound


def test_untying_one_weight_breaks_equivariance():
    network = build("resnet18", "h3", 5, width=16).double().eval()
    group = network.lifting.group
    untied = torch.nn.Conv2d(3 * group.order, 4 * group.order, 1).double()

    def trunk(angles):
        return untied(network.lifting.lift(angles).flatten(1, 2)).unflatten(1, (group.order, 4))

    angles = network.lifting.encode(images(dtype=torch.float64))
    with torch.no_grad():
        assert equivariance_error(trunk, group, angles, act_input=network.lifting.act).worst > 0.01


@pytest.mark.parametrize("name", names())
def test_logits_do_not_change_under_a_hue_step(name):
    network = trained(small(name, "h4").double()).eval()
    rgb = images(dtype=torch.float64)
    shifted = network.lifting.decode(network.lifting.act(network.lifting.encode(rgb), (1, 0, 0)))
    with torch.no_grad():
        torch.testing.assert_close(network(shifted), network(rgb), rtol=1e-9, atol=1e-9)


def test_any_image_size_and_shape():
    network = small("resnet18", "h2").eval()
    for size in [(7, 13), (1, 1), (33, 20)]:
        assert network(torch.rand(1, 3, *size)).shape == (1, 5)


@pytest.mark.parametrize(
    ("group", "options"),
    [("", {"family": "plain"}), ("h4", {}), ("h3", {"band_limit": True}), ("h3", {"family": "ceconv"})],
    ids=str,
)
def test_a_batch_of_nothing(group, options):
    assert small("resnet18", group, **options).eval()(torch.rand(0, 3, 16, 16)).shape == (0, 5)


def test_z2cnn_says_how_large_an_image_it_needs():
    with pytest.raises(ValueError, match="at least 28x28, got 27x28"):
        small("z2cnn", "h2")(torch.rand(1, 3, 27, 28))


def test_copies_and_state_survive():
    network = small("z2cnn", "h3").eval()
    rgb = images()
    want = network(rgb)
    for copied in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        torch.testing.assert_close(copied(rgb), want)
    train_keys = set(network.train().state_dict())
    assert train_keys == set(network.eval().state_dict())
    assert not any("mean" in k.split(".")[-1] and "running" not in k for k in train_keys)


def test_macs_of_the_fourier_backend_are_fewer():
    direct, fourier = (macs(build("resnet18", "h4s4", 5, width=16, backend=b), (16, 16)) for b in ("direct", "fourier"))
    assert fourier < direct / 4


def test_macs_do_not_depend_on_what_was_evaluated_before():
    network = small("resnet18", "h4", backend="fourier").eval()
    fresh = macs(network, (16, 16))
    with torch.no_grad():
        network(images(size=16))
    assert macs(network, (16, 16)) == fresh


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "resnet19"}, f"unknown network 'resnet19'; known: {', '.join(names())}"),
        ({"family": "rgb"}, f"unknown family 'rgb'; known: {', '.join(FAMILIES)}"),
        ({"num_classes": 1}, "at least 2 classes, got 1"),
        ({"width": 0}, "width must be at least 1, got 0"),
        ({"group": "q4"}, "'q4' names no colour group"),
        ({"group": "h0"}, "hue order must be a whole number >= 1, got 0"),
        ({"family": "plain", "group": "h4"}, "a plain network has no colour group"),
        ({"group": "h4s4l4", "width": 7}, "leaves no channel"),
        ({"family": "lcer", "group": "s4"}, "odd"),
        ({"family": "lcer", "group": "s3l3"}, "saturation and luminance"),
        ({"family": "ceconv", "group": "s3"}, "hue"),
        ({"cover": "square"}, "triangle"),
        ({"backend": "fft"}, "fft"),
        ({"family": "plain", "group": "", "cover": "square"}, "unknown cover 'square'"),
        ({"family": "ceconv", "color_space": "cmyk"}, "cmyk"),
        (
            {"family": "t3cen_rgb", "color_space": "hsv"},
            f"color_space is an option of {', '.join(accepting('color_space'))}; the family 't3cen_rgb'",
        ),
        ({"separable": True}, f"separable is an option of {', '.join(accepting('separable'))}; the family 't3cen'"),
        ({"lcer": {"frac_space": 0.5}}, f"lcer is an option of {', '.join(accepting('lcer'))}; the family 't3cen'"),
        ({"recompute": "maybe"}, "recompute must be true or false"),
    ],
)
def test_refusals_say_what_was_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        build(**{"name": "resnet18", "group": "h4", "num_classes": 10} | arguments)


def test_options_are_those_of_the_paper_s_families():
    accepted = {option: accepting(option) for option in ("color_space", "lcer", "separable", "band_limit")}
    assert {"t3cen", "lcer"} <= set(accepted["color_space"])
    assert {"lcer"} <= set(accepted["lcer"])
    assert {"ceconv"} <= set(accepted["separable"])
    assert {"t3cen", "t3cen_rgb", "t3cen_scale"} <= set(accepted["band_limit"])
    assert not {"plain", "gray"} & set().union(*accepted.values())


def test_a_second_network_of_one_name_is_refused():
    with pytest.raises(ValueError, match="'z2cnn' is registered already"):
        architecture("z2cnn", widths=[8])(torch.nn.Module)


def test_a_network_that_keeps_its_activations_says_so(monkeypatch):
    class Keeping(Network):
        def __init__(self, *, lifting, width):
            super().__init__()
            self.lifting, self.channels = lifting, width

    monkeypatch.setattr(registry, "ARCHITECTURES", Registry("t3cen.models"))
    architecture("keeping", widths=[12, 24])(Keeping)
    assert build("keeping", "h4").channels == 6
    assert build("keeping", "h4", width=20).channels == 10
    with pytest.raises(ValueError, match="keeping keeps its activations: recompute must be false"):
        build("keeping", recompute=True)


@pytest.mark.parametrize(
    ("widths", "order", "expected"),
    [([64, 128, 256, 512], 4, (32, 64, 128, 256)), ([32], 3, (18,)), ([20], 20, (4,)), ([20], 10, (6,)), ([16], 64, (2,))],
)
def test_width_rule(widths, order, expected):
    assert fixed_parameters(widths, order) == expected
