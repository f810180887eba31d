"""A network made on the meta device computes the same as any other once it has its weights."""

import pytest
import torch

from t3cen.models import build

OPTIONS = {"width": 8, "mean": (0.4, 0.5, 0.6), "std": (0.2, 0.3, 0.4)}


FAMILIES = pytest.mark.parametrize(
    ("family", "group", "more"),
    [("t3cen", "h3s2", {}), ("t3cen", "h3", {"band_limit": True}), ("lcer", "s3", {}), ("ceconv", "h3", {}), ("plain", "", {})],
)


@FAMILIES
def test_it_says_what_shape_comes_out(family, group, more):
    with torch.device("meta"):
        network = build("resnet18", group, 4, family=family, **OPTIONS, **more)
    for training in (False, True):
        assert network.train(training)(torch.empty(2, 3, 16, 16, device="meta")).shape == (2, 4)


@pytest.mark.parametrize("assign", [False, True])
@FAMILIES
def test_weights_are_all_it_lacks(family, group, more, assign):
    images = torch.rand(2, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    whole = build("resnet18", group, 4, family=family, **OPTIONS, **more).eval()
    with torch.device("meta"):
        made = build("resnet18", group, 4, family=family, **OPTIONS, **more).eval()
    if not assign:
        made.to_empty(device="cpu")
    made.load_state_dict(whole.state_dict(), assign=assign)
    assert torch.equal(made(images), whole(images))
    assert not [name for name, buffer in made.named_buffers() if buffer.is_meta]


def test_constants_that_were_set_stay_where_there_was_memory():
    made = build("resnet18", "h3", 4, family="t3cen", **OPTIONS)
    made.normalize.mean.fill_(0.25)
    assert made.double().normalize.mean.unique().tolist() == [0.25]
