"""Test sets between the steps: the first test set under shifts that no group counts in, and under nothing else."""

import pytest
import torch
from hydra.utils import instantiate

from t3cen.data import MNIST, Shapes3D
from t3cen.data.between import AXES, between_steps
from t3cen.data.items import to_float
from t3cen.data.shifts import Uniform, shift
from t3cen.experiments import all_runs
from t3cen.experiments.composition import compose
from t3cen.training.run import make_data


def shapes():
    return Shapes3D(source="rendered", image_size=8, train_size=8, test_size=6)


@pytest.mark.parametrize("axis", AXES)
def test_every_shift_is_along_its_axis_and_between_steps(axis):
    changes = between_steps(axis)
    assert len(changes) == (5 if axis == "hue" else 12)
    for change in changes.values():
        for other in set(AXES) - {axis}:
            assert getattr(change, other) in (0.0, (0.0, 0.0))
        assert getattr(change, axis) not in (0.0, (0.0, 0.0))


def test_added_sets_hold_the_first_sets_pictures_shifted():
    data = shapes()
    own = data.test_names
    data.add_tests(between_steps("luminance"))
    assert data.test_names == (*own, *between_steps("luminance"))
    assert tuple(data.splits.test) == data.test_names
    picture, label = data.splits.test["A"][2]
    lighter, same = data.splits.test["clip_up_0.25"][2]
    assert same == label
    torch.testing.assert_close(lighter, shift(picture, luminance=0.25))
    folded, _ = data.splits.test["fold_up_0.5"][2]
    torch.testing.assert_close(folded, shift(picture, luminance=0.5, mode="fold"))
    drawn = data.splits.test["fold_within_0.5"]
    assert not torch.equal(drawn[2][0], picture)
    assert torch.equal(drawn[2][0], drawn[2][0])


def test_the_sets_that_were_there_stay_the_same():
    with_more, without = shapes(), shapes()
    with_more.add_tests(between_steps("hue"))
    for name in without.test_names:
        for index in range(3):
            assert torch.equal(with_more.splits.test[name][index][0], without.splits.test[name][index][0])


def test_wrong_use_says_what_is_wrong():
    with pytest.raises(ValueError, match="hue, saturation, luminance, got 'value'"):
        between_steps("value")
    data = shapes()
    data.add_tests({"twice": Uniform()})
    with pytest.raises(ValueError, match="has a test set 'twice' already"):
        data.add_tests({"twice": Uniform()})
    _ = data.splits
    with pytest.raises(ValueError, match="made already"):
        data.add_tests({"late": Uniform()})


@pytest.mark.parametrize("name", ["shapes3d_between_luminance_l5_continuous", "mnist_between_hue_plain_shift"])
def test_the_configuration_adds_them(name):
    config = compose(all_runs()[name], "smoke")
    data = make_data(config)
    assert set(between_steps(config["data"]["between"])) < set(data.test_names)
    without = make_data({**config, "data": {key: value for key, value in config["data"].items() if key != "between"}})
    assert without.test_names == data.test_names[: len(without.test_names)]
    if name.startswith("mnist"):
        assert isinstance(data, MNIST)
        image = torch.randint(0, 256, (3, 4, 4), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
        augment = instantiate(config["augment"])
        shifted = augment(image, torch.Generator().manual_seed(1))
        assert not torch.allclose(shifted, to_float(image))
        torch.testing.assert_close(shifted, Uniform(hue=(-0.5, 0.5))(to_float(image), torch.Generator().manual_seed(1)))
