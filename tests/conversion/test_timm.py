"""timm's networks, where it is installed."""

import pytest
import torch

from t3cen import convert
from t3cen.testing import network_error

timm = pytest.importorskip("timm")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mobilenetv3_small_050", "convnext_atto"])
def test_it_converts(name):
    torch.manual_seed(0)
    network = convert(timm.create_model(name, num_classes=4), "h3").eval()
    assert network_error(network, torch.rand(1, 3, 32, 32)).worst <= 5e-6
    assert abs(network.conversion.after / network.conversion.before - 1) <= 0.03


@pytest.mark.slow
def test_splits_at_fixed_places_are_refused():
    with pytest.raises(ValueError, match=r"layer1\.\d \(Bottle2neck\) fails with fewer channels"):
        convert(timm.create_model("res2net50_26w_4s"), "h3")
