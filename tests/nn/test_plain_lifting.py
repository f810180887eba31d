"""The liftings of networks without a group."""

import pytest
import torch

from t3cen.groups import ColorGroup
from t3cen.nn import GrayLifting, IdentityLifting


def test_identity_is_the_image():
    rgb = torch.rand(2, 3, 4, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(IdentityLifting()(rgb), rgb[:, None])


def test_grey_is_the_luma_in_all_channels():
    gray = GrayLifting()(torch.eye(3).view(3, 3, 1, 1))
    torch.testing.assert_close(gray[:, 0, :, 0, 0], torch.tensor([[0.299] * 3, [0.587] * 3, [0.114] * 3]))
    neutral = torch.full((1, 3, 2, 2), 0.4)
    torch.testing.assert_close(GrayLifting()(neutral), neutral[:, None])


@pytest.mark.parametrize("kind", [IdentityLifting, GrayLifting])
def test_only_the_trivial_group(kind):
    assert kind(ColorGroup()).group.order == 1
    with pytest.raises(ValueError, match=rf"{kind.__name__} lifts to the trivial group, got order 4"):
        kind(ColorGroup(4))


@pytest.mark.parametrize("kind", [IdentityLifting, GrayLifting])
def test_fractions_of_a_step_have_no_meaning(kind):
    lifting = kind()
    angles = lifting.encode(torch.rand(1, 3, 2, 2))
    assert torch.equal(lifting.act(angles, (3, 0, -1)), angles)
    with pytest.raises(ValueError, match=r"whole steps only, got \(0.5, 0, 0\)"):
        lifting.act(angles, (0.5, 0, 0))
