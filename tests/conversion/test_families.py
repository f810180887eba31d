"""Networks of every family: converted, equivariant to every element of a group, in training and in evaluation.

With both groups each, `scripts/convert_families.py` measures them for docs/convert.md.
"""

import importlib.util
from itertools import cycle
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("convert_families", Path(__file__).parents[2] / "scripts" / "convert_families.py")
families = importlib.util.module_from_spec(spec)
spec.loader.exec_module(families)

COARSE = {"regnet_y_400mf": 0.25, "unet": 0.05}
"""How far parameters may be off where groups of channels, or few of them, leave no nearer width."""


@pytest.mark.fast("squeezenet1_1-h3s2l2", "unet-h4s4")
@pytest.mark.parametrize(("name", "group"), list(zip(families.FAMILIES, cycle(families.GROUPS), strict=False)))
def test_it_is_equivariant_with_as_many_parameters(name, group):
    network, rgb = families.converted(name, group), families.images(name)[:1]
    assert families.worst_error(network, rgb, training=False) <= 5e-6
    network = families.calibrated(network, name)
    errors = {training: families.worst_error(network, rgb, training) for training in (False, True)}
    network, rgb = network.double(), rgb.double()
    for training, error in errors.items():
        # What rounding is left of the input, the network makes larger by as much.
        assert error <= 1e-6 * max(1, families.amplification(network, rgb, training))
        assert families.worst_error(network, rgb, training) <= 1e-11
    change = network.conversion.after / network.conversion.before - 1
    assert abs(change) <= COARSE.get(name, 0.03)
    assert ("nearest" in str(network.conversion)) == (abs(change) > 0.03)


def test_maps_are_pooled_per_pixel():
    network, rgb = families.converted("unet", "h4s4"), families.images("unet")
    maps = network.eval().on_lifted(network.lifting(rgb))
    assert maps.shape == (2, 16, 3, 32, 32)
    assert network(rgb).equal(maps.mean(1))


@pytest.mark.slow
def test_segmentation_keeps_its_dictionary():
    network, rgb = families.converted("fcn_resnet50", "h2"), families.images("fcn_resnet50")
    out = network.eval()(rgb)
    assert {name: maps.shape for name, maps in out.items()} == {"out": (2, 5, 32, 32), "aux": (2, 5, 32, 32)}
