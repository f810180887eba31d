"""The liftings of networks without a group."""

import pytest
import torch

from t3cen.color.srgb import linear_to_srgb, srgb_to_linear
from t3cen.data.light_shifts import relight
from t3cen.groups import ColorGroup
from t3cen.nn import GrayLifting, GrayWorldLifting, IdentityLifting, WhitePatchLifting

BALANCED = [GrayWorldLifting, WhitePatchLifting]


def test_identity_is_the_image():
    rgb = torch.rand(2, 3, 4, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(IdentityLifting()(rgb), rgb[:, None])


def test_grey_is_the_luma_in_all_channels():
    gray = GrayLifting()(torch.eye(3).view(3, 3, 1, 1))
    torch.testing.assert_close(gray[:, 0, :, 0, 0], torch.tensor([[0.299] * 3, [0.587] * 3, [0.114] * 3]))
    neutral = torch.full((1, 3, 2, 2), 0.4)
    torch.testing.assert_close(GrayLifting()(neutral), neutral[:, None])


@pytest.mark.parametrize("kind", [IdentityLifting, GrayLifting, *BALANCED])
def test_only_the_trivial_group(kind):
    assert kind(ColorGroup()).group.order == 1
    with pytest.raises(ValueError, match=rf"{kind.__name__} lifts to the trivial group, got order 4"):
        kind(ColorGroup(4))


@pytest.mark.parametrize("kind", [IdentityLifting, GrayLifting, *BALANCED])
def test_fractions_of_a_step_have_no_meaning(kind):
    lifting = kind()
    angles = lifting.encode(torch.rand(1, 3, 2, 2))
    assert torch.equal(lifting.act(angles, (3, 0, -1)), angles)
    with pytest.raises(ValueError, match=r"whole steps only, got \(0.5, 0, 0\)"):
        lifting.act(angles, (0.5, 0, 0))


def test_grey_world_and_white_patch_by_hand():
    light = torch.tensor([[0.1, 0.3], [0.02, 0.02], [0.0, 0.0]], dtype=torch.float64).view(1, 3, 1, 2)
    stored = linear_to_srgb(light)
    means = torch.tensor([[0.09, 0.27], [0.18, 0.18], [0.0, 0.0]], dtype=torch.float64).view(1, 1, 3, 1, 2)
    torch.testing.assert_close(srgb_to_linear(GrayWorldLifting()(stored)), means)
    brightest = torch.tensor([[1 / 3, 1], [1, 1], [0.0, 0.0]], dtype=torch.float64).view(1, 1, 3, 1, 2)
    torch.testing.assert_close(srgb_to_linear(WhitePatchLifting()(stored)), brightest)


@pytest.mark.parametrize("kind", BALANCED)
def test_balanced_images_do_not_see_gains_that_cut_nothing_off(kind):
    rgb = torch.rand(2, 3, 6, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    gains = 2.0 ** -torch.tensor([2.0, 0.3, 1.0], dtype=torch.float64)[:, None, None]
    balanced = kind()(rgb)
    assert 0 <= balanced.min() <= balanced.max() <= 1
    torch.testing.assert_close(kind()(relight(rgb, gains)), balanced, rtol=0, atol=1e-12)
    assert (kind()(relight(rgb, 2.0)) - balanced).abs().max() > 0.05


@pytest.mark.parametrize("kind", BALANCED)
def test_balanced_images_pass_finite_gradients(kind):
    dark = torch.zeros(1, 3, 2, 2, requires_grad=True)
    kind()(dark).sum().backward()
    assert dark.grad.isfinite().all()
