"""What cannot be converted is refused, by the module's name and with the reason."""

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from t3cen import convert
from t3cen.testing import network_error


class Net(nn.Module):
    """A stem, something, a head."""

    def __init__(self, middle, channels=16):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.middle = middle
        self.last = nn.Conv2d(channels, 4, 1)

    def forward(self, x):
        return self.last(self.middle(self.stem(x)))


class FirstHalf(nn.Module):
    def forward(self, x):
        return x[:, :8]


class Halves(nn.Module):
    def forward(self, x):
        first, second = x.split([12, 4], 1)
        return torch.cat([second, first], 1)


class FirstOfBatch(nn.Module):
    def forward(self, x):
        return x - x[0]


class AcrossSamples(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Conv2d(16, 16, 1)

    def forward(self, x):
        q = self.query(x).flatten(1)
        mix = torch.cat([q[1:], q[:1]]).view(x.shape)
        return x + mix


class GhostNorm(nn.BatchNorm2d):
    """Statistics of halves of the batch, in training alone."""

    def forward(self, x):
        return torch.cat([super(GhostNorm, self).forward(part) for part in x.chunk(2)]) if self.training else super().forward(x)


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.position = nn.Parameter(torch.zeros(1, 16, 64, 64))

    def forward(self, x):
        return x + self.position


class OwnConv(nn.Conv2d):
    def forward(self, x):
        return super().forward(nn.functional.pad(x, (1, 1, 1, 1)))


class Spare(nn.Module):
    def __init__(self):
        super().__init__()
        self.unused = nn.Conv2d(16, 16, 1)

    def forward(self, x):
        return x


class Stuck(nn.Module):
    def forward(self, x):
        return x.flip(3).contiguous().view(len(x), 16, 64, 64)


REFUSED = {
    "fixed cut": (FirstHalf(), 8, r"middle \(FirstHalf\) cuts its channels, 16 at \(0, 8\), and when there are fewer, "),
    "fixed split": (Halves(), 16, r"middle \(Halves\) fails with fewer channels: .*split_sizes"),
    "fixed view": (Stuck(), 16, r"middle \(Stuck\) fails with fewer channels: "),
    "first of the batch": (FirstOfBatch(), 16, r"middle \(FirstOfBatch\) treats the images of a batch unlike .* in evaluation"),
    "attention": (AcrossSamples(), 16, r"middle \(AcrossSamples\) treats the images"),
    "ghost norm": (GhostNorm(16), 16, r"middle \(GhostNorm\) treats the images of a batch unlike .* in training"),
    "position": (Table(), 16, r"middle \(Table\) has a parameter position \(1, 16, 64, 64\): known are"),
    "own forward": (OwnConv(16, 16, 3), 16, r"middle \(OwnConv\) is a Conv2d with a forward of its own"),
    "volume": (nn.Sequential(nn.Unflatten(1, (16, 1)), nn.Conv3d(16, 16, 1)), 16, r"middle.1 \(Conv3d\) has a parameter weight"),
    "layer norm": (nn.LayerNorm((16, 64, 64)), 16, r"middle \(LayerNorm\) normalises over \(16, 64, 64\)"),
    "parametrised": (parametrizations.weight_norm(nn.Conv2d(16, 16, 1)), 16, r"middle \(.*\) has parametrised parameters"),
    "unused": (Spare(), 16, r"middle.unused \(Conv2d\) took no part"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_it_says_which_module_and_why(kind):
    middle, channels, said = REFUSED[kind]
    with pytest.raises(ValueError, match=said) as error:
        convert(Net(middle, channels), "h2s2")
    assert "\n" not in str(error.value)


def test_channels_that_do_not_divide():
    joined = nn.Sequential(nn.Conv2d(16, 20, 1), nn.GroupNorm(5, 20))

    class Concat(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.norm = joined, nn.GroupNorm(4, 36)

        def forward(self, x):
            return self.norm(torch.cat([x, self.inner(x)], 1))

    with pytest.raises(
        ValueError,
        match=r"middle.norm \(GroupNorm\) fails with fewer channels: \d+ channels are left, which its 4 groups do not divide",
    ):
        convert(Net(Concat(), 36), "h3")


def test_group_norm_keeps_as_many_channels_as_its_groups_divide():
    network = convert(Net(nn.Sequential(nn.Conv2d(16, 20, 1), nn.GroupNorm(5, 20), nn.Conv2d(20, 16, 1))), "h3")
    assert network.body.middle[1].num_channels % 5 == 0
    assert network.body.middle[1].num_channels < 20


def test_what_is_the_same_for_the_whole_batch_is_no_reason():
    class Centred(nn.Module):
        def forward(self, x):
            return x - x.mean(0)

    network = convert(Net(Centred()), "h2s2")
    assert network_error(network, torch.rand(2, 3, 8, 8)).worst < 5e-6


@pytest.mark.parametrize(("changes", "said"), [
    ({"match": "depth"}, "match must be one of parameters, width, got 'depth'"),
    ({"mix": "some"}, "mix must be one of dense, grouped, all, got 'some'"),
    ({"pool": "sum"}, "pool must be one of max, mean, pixel_max, none, got 'sum'"),
    ({"group": "x4"}, "names no colour group"),
])  # fmt: skip
def test_options(changes, said):
    with pytest.raises(ValueError, match=said):
        convert(Net(nn.Identity()), **{"group": "h2", **changes})


def test_a_network_without_convolutions():
    with pytest.raises(ValueError, match=r"has no nn\.Conv2d: there is nothing to convert"):
        convert(nn.Sequential(nn.Flatten(), nn.Linear(12, 3)), "h2")


def test_a_size_that_no_example_has():
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.Flatten(), nn.Linear(8 * 50 * 40, 3))
    with pytest.raises(ValueError, match=r"the network takes no square images of 32, 28, .* give an example="):
        convert(model, "h2")
    assert convert(model, "h2", example=torch.rand(1, 3, 50, 40))(torch.rand(2, 3, 50, 40)).shape == (2, 3)
