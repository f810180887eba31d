"""Test sets between the steps: the unshifted test pictures, shifted along one axis by amounts that no group counts in.

In the paper's tests a shift is a whole step of the network's group, or is drawn so that many are. Real shifts are neither.
"""

from __future__ import annotations

from t3cen.data.items import Change
from t3cen.data.shifts import Fixed, Uniform

HUE_SHIFTS = {"up_0.125": 0.125, "up_0.1": 0.1}
HUE_RANGES = {"within_0.05": 0.05, "within_0.1": 0.1, "within_0.5": 0.5}
VALUE_SHIFTS = {"up_0.5": 0.5, "up_0.25": 0.25, "down_0.25": -0.25}
VALUE_RANGES = {"within_0.1": 0.1, "within_0.25": 0.25, "within_0.5": 0.5}
MODES = ("clip", "fold")
AXES = ("hue", "saturation", "luminance")


def between_steps(axis: str) -> dict[str, Change]:
    """Colour shifts by name: one for all pictures (`up_0.25`) or one for each, uniform within plus and minus (`within_0.25`).

    Args:
        axis: `hue`, in turns: half a step of order 4, half a step of order 5, and any hue; `saturation` or `luminance`, each
            cut off at the ends of the range (`clip_up_0.25`) and turned back there (`fold_up_0.25`).

    Raises:
        ValueError: another axis.

    Not in the paper; docs/continuous.md.
    """
    if axis not in AXES:
        raise ValueError(f"between must be one of {', '.join(AXES)}, got {axis!r}")
    if axis == "hue":
        fixed = {name: Fixed(hue=amount) for name, amount in HUE_SHIFTS.items()}
        return {**fixed, **{name: Uniform(hue=(-reach, reach)) for name, reach in HUE_RANGES.items()}}
    changes: dict[str, Change] = {}
    for mode in MODES:
        for name, amount in VALUE_SHIFTS.items():
            changes[f"{mode}_{name}"] = Fixed(**{axis: amount}, mode=mode)
        for name, reach in VALUE_RANGES.items():
            changes[f"{mode}_{name}"] = Uniform(**{axis: (-reach, reach)}, mode=mode)
    return changes
