import pytest
import torch

from t3cen.analysis.commutation import commutation_error, steps_of, translate
from t3cen.groups import ColorGroup
from t3cen.models import build
from t3cen.nn import HSLLifting, LCERLifting


def _images(count=2, size=8):
    return 0.1 + 0.8 * torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(0))


def _network(group, family):
    torch.manual_seed(0)
    return build("resnet18", group, 4, family=family, width=8).eval()


def test_translation_fills_with_zeros_and_hue_rolls():
    group = ColorGroup(hue=2, saturation=3)
    f = torch.arange(6.0).reshape(1, 6, 1)
    assert translate(group)(f, (0, 1, 0)).flatten().tolist() == [1, 2, 0, 4, 5, 0]
    assert translate(group)(f, (0, -1, 0)).flatten().tolist() == [0, 0, 1, 0, 3, 4]
    assert translate(group)(f, (1, 0, 0)).flatten().tolist() == [3, 4, 5, 0, 1, 2]
    assert translate(group)(f, (0, 3, 0)).abs().sum() == 0
    assert translate(group)(f, (0, 0.9999999999999996, 0)).flatten().tolist() == [1, 2, 0, 4, 5, 0]
    with pytest.raises(ValueError, match="whole steps expected"):
        translate(group)(f, (0, 0.5, 0))


def test_t3cen_commutes_on_angles_and_lcer_does_not():
    t3cen, lcer = _network("s3", "t3cen"), _network("s3", "lcer")
    exact = commutation_error(t3cen.lifting, t3cen.trunk, _images(), (0, -1, 0))
    assert exact.angles < 5e-6
    assert exact.image > 1e-3
    assert exact.sheet_changes > 0.1
    rough = commutation_error(lcer.lifting, lcer.trunk, _images(), (0, -1, 0), translated=True)
    assert 0.1 < rough.angles < 1


def test_a_shift_that_is_no_step_is_no_roll():
    network = _network("s3", "t3cen")
    half = steps_of(network.lifting, 1, -1 / 2)  # the paper's 1/(M - 1), three quarters of a step
    assert half == (0, -0.75, 0)
    assert commutation_error(network.lifting, network.trunk, _images(), (0, -1, 0), moved=half).angles > 1e-3


def test_both_commute_with_hue():
    for family in ("t3cen", "lcer"):
        network = _network("h4", family)
        assert commutation_error(network.lifting, network.trunk, _images(), (1, 0, 0), translated=family == "lcer").angles < 5e-6


def test_a_network_that_is_no_group_convolution_is_caught():
    """The negative control: features mixed across the group by position commute with nothing."""
    lifting = HSLLifting(ColorGroup(saturation=3))
    weight = torch.arange(1.0, 4.0)[None, :, None, None, None]
    assert commutation_error(lifting, lambda lifted: lifted * weight, _images(), (0, 1, 0)).angles > 0.05


def test_amounts_become_steps():
    assert steps_of(HSLLifting(ColorGroup(hue=4)), 0, 0.25) == (1.0, 0, 0)
    assert steps_of(HSLLifting(ColorGroup(saturation=4)), 1, -0.5) == (0, -1.0, 0)
    assert steps_of(LCERLifting(ColorGroup(saturation=3)), 1, -0.5) == (0, -1.0, 0)
    assert steps_of(HSLLifting(ColorGroup(saturation=5)), 1, 1.2) == (0, 3.0, 0)  # 2.9999999999999996
    assert steps_of(HSLLifting(ColorGroup(saturation=5)), 1, 0.2) == (0, 0.5, 0)
    with pytest.raises(ValueError, match="axis 2 has order 1"):
        steps_of(HSLLifting(ColorGroup(hue=4)), 2, 0.5)
