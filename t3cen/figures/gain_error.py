"""How far a gain is from a shift of the light lifting: by 8 bits at each level, by floor and white in images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from t3cen.data.light_shifts import relight
from t3cen.figures.style import SERIES, canvas
from t3cen.groups import RGBGroup
from t3cen.nn import LightLifting
from t3cen.turns import circle_distance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVELS = 255


def draw(images: Tensor, gains: Sequence[float] = (-2, -1, 1), stops: float = 8.0) -> tuple[Figure, dict[str, Any]]:
    """Left, the error of grey levels stored again in 8 bits; right, the share of pixels of the images that are cut off.

    Args:
        images: `(B, 3, H, W)`, sRGB in [0, 1].
        gains: of all channels, in stops of linear light.
        stops: range of the lifting.
    """
    lifting = LightLifting(RGBGroup(3, 3, 3), stops=stops)
    figure = canvas(10, 3.6)
    left, right = figure.subplots(1, 2)
    grey = (torch.arange(LEVELS + 1, dtype=torch.float64) / LEVELS).expand(1, 3, 1, -1)
    numbers: dict[str, Any] = {"stops": stops, "gains": {}, "images": len(images)}
    for place, gain in enumerate(gains):
        moved = lifting.act(lifting.encode(grey), lifting.steps((gain,) * 3))
        held = ~(lifting.off_sheet(moved) | (lifting.encode(grey) == 0).any(1))[0, 0]
        relit = relight(grey, 2.0**gain)
        exact, stored = (
            # A turn is the range of the logarithm, there and back.
            2 * stops * circle_distance(lifting.encode(rgb), moved)[0, 0, 0]
            for rgb in (relit, (relit * LEVELS).round() / LEVELS)
        )
        levels = held.nonzero()[:, 0]
        left.plot(levels, stored[held], label=stops_of(gain), color=SERIES[place % len(SERIES)], linewidth=1)
        numbers["gains"][f"{gain:+g}"] = {
            "levels held": [levels[0].item(), levels[-1].item()],
            "largest error in stops": exact[held].max().item(),
            "largest in 8 bits": stored[held].max().item(),
            "mean in 8 bits": stored[held].mean().item(),
        }
    angles = lifting.encode(images)
    swept = torch.linspace(-3, 3, 25).tolist()
    shares = [lifting.sheet_changes(angles, lifting.steps((gain,) * 3)) for gain in swept]
    numbers["pixels at the floor"] = (angles == 0).any(1).double().mean().item()
    numbers["pixels cut off"] = {f"{gain:+g}": share for gain, share in zip(swept, shares, strict=True)}
    right.plot(swept, [100 * share for share in shares], color=SERIES[0])
    left.set(title="greys, stored in 8 bits after the gain")
    left.set(xlabel="level before the gain (of 255)", ylabel="error of the shift (stops)")
    right.set(title="colours that leave the range", xlabel="gain (stops)", ylabel="pixels cut off (%)", ylim=(0, 105))
    left.legend()
    return figure, numbers


def stops_of(gain: float) -> str:
    """A gain as people write it: `−2 stops`, `+1 stop`."""
    return f"{gain:+g} stop{'' if abs(gain) == 1 else 's'}".replace("-", "−")
