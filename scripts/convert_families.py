"""Convert a network of every family of torchvision's, and measure what becomes of it; prints the table of docs/convert.md.

python scripts/convert_families.py                 all of them: ten minutes
python scripts/convert_families.py resnet18 unet   some
python scripts/convert_families.py --page          all, into docs/convert.md
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves
from torchvision import models

from t3cen import convert
from t3cen.conversion import Converted
from t3cen.conversion.check import set_mode
from t3cen.testing import equivariance_error, relative_difference

GROUPS = ("h4s4", "h3s2l2")


class UNet(nn.Module):
    """A small U-Net (Ronneberger et al., 2015): down twice, up twice, features of the same size side by side."""

    def __init__(self, classes: int = 3, width: int = 16) -> None:
        super().__init__()
        self.first, self.second, self.third = (
            self._block(3, width),
            self._block(width, 2 * width),
            self._block(2 * width, 4 * width),
        )
        self.down = nn.MaxPool2d(2)
        self.up2, self.up1 = (nn.ConvTranspose2d(2 * w, w, 2, 2) for w in (2 * width, width))
        self.back2, self.back1 = self._block(4 * width, 2 * width), self._block(2 * width, width)
        self.last = nn.Conv2d(width, classes, 1)

    def _block(self, inputs: int, outputs: int) -> nn.Module:
        conv = partial(nn.Conv2d, kernel_size=3, padding=1, bias=False)
        layers = (conv(inputs, outputs), nn.BatchNorm2d(outputs), nn.ReLU(), conv(outputs, outputs), nn.BatchNorm2d(outputs))
        return nn.Sequential(*layers, nn.ReLU())

    def forward(self, images: Tensor) -> Tensor:
        first = self.first(images)
        second = self.second(self.down(first))
        third = self.third(self.down(second))
        second = self.back2(torch.cat([self.up2(third), second], 1))
        return self.last(self.back1(torch.cat([self.up1(second), first], 1)))


def _made(name: str, **options: bool) -> Callable[[], nn.Module]:
    return lambda: models.get_model(name, weights=None, num_classes=10, **options)


def _segmenting(name: str) -> Callable[[], nn.Module]:
    return lambda: models.get_model(name, weights=None, weights_backbone=None, num_classes=5, aux_loss=True)


_PLAIN = (
    "resnet18 resnet50 resnext50_32x4d wide_resnet50_2 vgg11_bn densenet121 mobilenet_v2 mobilenet_v3_small efficientnet_b0 "
    "convnext_tiny regnet_y_400mf mnasnet1_0 shufflenet_v2_x1_0 squeezenet1_1"
)
FAMILIES: dict[str, Callable[[], nn.Module]] = {
    **{name: _made(name) for name in _PLAIN.split()},
    "googlenet": _made("googlenet", aux_logits=True, init_weights=False),
    "inception_v3": _made("inception_v3", aux_logits=False, init_weights=False),
    **{name: _segmenting(name) for name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large")},
    "unet": UNet,
}
SIZES = {"inception_v3": 80}
"""Sides of images, in pixels, where 32 are too few."""
PAGE = Path(__file__).resolve().parents[1] / "docs" / "convert.md"
MARK = "<!-- families -->\n"
NOISE = 1e-7
"""Relative change of the input that amplification is measured with."""


def converted(name: str, group: str, match: str = "parameters") -> Converted:
    """The family's network with random weights, converted, after one step of training statistics."""
    torch.manual_seed(0)
    network = convert(FAMILIES[name](), group, match=match)
    with torch.no_grad():
        network.train()(images(name))
    return network


def calibrated(network: Converted, name: str) -> Converted:
    """The network, its running statistics those of one batch."""
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 1.0
    with torch.no_grad():
        network.train()(images(name))
    return network


def images(name: str) -> Tensor:
    """Two images of random colours."""
    size = SIZES.get(name, 32)
    return torch.rand(2, 3, size, size, generator=torch.Generator().manual_seed(1))


def outputs(network: Converted, lifted: Tensor) -> Tensor:
    """All outputs of the group's elements, before they are pooled, side by side."""
    found = tree_leaves(network.on_lifted(lifted))
    return torch.cat([output.flatten(2) for output in found if output is not None], 2)


def worst_error(network: Converted, rgb: Tensor, training: bool) -> float:
    """The largest equivariance error over all elements of the group, acting on angles."""
    set_mode(network, training)
    lifting = network.lifting
    return equivariance_error(
        lambda angles: outputs(network, lifting.lift(angles)), network.group, lifting.encode(rgb), act_input=lifting.act
    ).worst


@torch.no_grad()
def amplification(network: Converted, rgb: Tensor, training: bool) -> float:
    """How many times larger the relative change of the outputs is than that of the input, which is rounding by chance.

    It is a property of networks, plain ones too, that no arithmetic takes away. The network must be in float64.
    """
    set_mode(network, training)
    lifted = network.lifting(rgb)
    noise = torch.randn(lifted.shape, dtype=lifted.dtype, generator=torch.Generator().manual_seed(2))
    before, after = outputs(network, lifted), outputs(network, lifted * (1 + NOISE * noise))
    return relative_difference(before, after) / relative_difference(lifted, lifted * (1 + NOISE * noise))


def rows(names: list[str], group: str) -> Iterator[str]:
    """Lines of a Markdown table."""
    yield "| network | parameters | change | fresh | evaluation | training | training, float64 | amplification |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in names:
        network, rgb = converted(name, group), images(name)[:1]
        before, after = network.conversion.before, network.conversion.after
        errors = [worst_error(network, rgb, training=False)]
        network = calibrated(network, name)
        errors += [worst_error(network, rgb, training) for training in (False, True)]
        network, rgb = network.double(), rgb.double()
        errors.append(worst_error(network, rgb, training=True))
        texts = [f"{error:.0e}" for error in errors] + [f"{float(f'{amplification(network, rgb, training=True):.2g}'):g}"]
        yield f"| {name} | {before / 1e6:.2f} M | {after / before - 1:+.1%} | " + " | ".join(texts) + " |"


def page(text: str, tables: str) -> str:
    """The text of docs/convert.md with the tables behind its mark made anew."""
    before, _, behind = text.partition(MARK)
    return before + MARK + "\n" + tables + "\n" + behind[behind.index("Where a change is above") :]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"some of {', '.join(FAMILIES)}")
    parser.add_argument("--page", action="store_true", help="write the tables into docs/convert.md")
    options = parser.parse_args()
    if unknown := set(options.networks) - set(FAMILIES):
        parser.error(f"no network {', '.join(sorted(unknown))}; choose from {', '.join(FAMILIES)}")
    lines = []
    for group in GROUPS:
        for line in chain((f"### {group.upper()}", ""), rows(options.networks or list(FAMILIES), group), ("",)):
            print(line, flush=True)
            lines.append(line)
    if options.page:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), "\n".join(lines)), encoding="utf-8")
