"""Step jitter moves images by up to half a step of the network that is trained, or is refused."""

import pytest
import torch

from t3cen.color import hsl_to_rgb, rgb_to_hsl
from t3cen.data.shifts import step_jitter
from t3cen.experiments import all_runs
from t3cen.experiments.composition import compose
from t3cen.groups import ColorGroup
from t3cen.models import build
from t3cen.training.run import _step_jitter

HSL = torch.tensor([0.5, 0.5, 0.5]).view(1, 3, 1, 1).expand(2000, 3, 1, 1)


def moved(group, **model):
    """How far the jitter of a network moves hue, saturation and luminance at most, and the moved images."""
    model = {"family": "t3cen", "group": group, "cover": "triangle", "color_space": "hsl", **model}
    options = {key: value for key, value in model.items() if key != "group"}
    augment = _step_jitter(build("z2cnn", group, **options), model)
    images = augment(hsl_to_rgb(HSL), torch.Generator().manual_seed(0))
    return (rgb_to_hsl(images) - HSL).abs().amax((0, 2, 3)), images


def test_a_t3cen_run_is_shifted_as_ever():
    jitter = step_jitter(hsl_to_rgb(HSL), ColorGroup(4, 3, 1), "triangle", torch.Generator().manual_seed(0))
    most, images = moved("h4s3")
    assert torch.equal(images, jitter)
    torch.testing.assert_close(most, torch.tensor([1 / 8, 1 / 3, 0]), atol=2e-3, rtol=0)


@pytest.mark.parametrize(("order", "share"), [(3, 1.0), (5, 1.0), (3, 0.2)])
def test_lcer_is_shifted_by_half_of_its_own_step(order, share):
    expected = share / (order - 1) / 2
    torch.testing.assert_close(
        moved(f"l{order}", family="lcer", lcer={"frac_space": share})[0][2].item(), expected, atol=1e-3, rtol=0
    )
    most, images = moved(f"h3s{order}", family="lcer", lcer={"frac_space": share})
    torch.testing.assert_close(most, torch.tensor([1 / 6, expected, 0]), atol=2e-3, rtol=0)
    assert 0 <= images.min() <= images.max() <= 1


def test_ceconv_is_shifted_in_hue():
    torch.testing.assert_close(moved("h4", family="ceconv")[0], torch.tensor([1 / 8, 0, 0]), atol=1e-3, rtol=0)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"family": "t3cen_rgb", "group": "h4"}, "family 't3cen_rgb' has none"),
        ({"family": "t3cen_scale", "group": "h4"}, "family 't3cen_scale' has none"),
        ({"family": "plain", "group": ""}, "family 'plain' has none"),
        ({"family": "t3cen", "group": "h4", "color_space": "hsv"}, "color_space='hsv'"),
        ({"family": "lcer", "group": "s3", "color_space": "hsv"}, "color_space='hsv'"),
    ],
)
def test_steps_that_are_not_of_hsl_are_refused(model, words):
    with pytest.raises(ValueError, match=words):
        moved(**model)


def test_every_row_with_step_jitter_is_allowed():
    rows = [run for run in all_runs().values() if run.settings.get("step_jitter")]
    assert rows
    for model in (compose(run, "paper")["model"] for run in rows):
        assert (model["family"], model["color_space"]) == ("t3cen", "hsl")
