"""Which colour group, if any, suits given images: `recommend`, and the rules it follows.

1. An axis counts when it moves between training and deployment: by at least `LEAST` of its range, and three times the noise
   between random halves of the training images. Where none does, equivariance costs capacity and buys nothing.
2. Of several, the axis that moves most is taken alone: in the paper's Camelyon17 table S4 beats H4S4 and H4S4L4.
3. The order is 4, the paper's, unless another leaves clearly less of the move between its steps.
4. Where that axis alone tells the class, and does so in deployment too, pooling over it would throw the answer away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from torch import Tensor

from t3cen.analysis.candidates import GROUPS, Candidate, examine
from t3cen.analysis.color_as_label import Signal, color_signals
from t3cen.analysis.color_statistics import AXES, ColorStatistics, sample_pixels
from t3cen.analysis.light_move import LightMove, light_move
from t3cen.analysis.movement import Movement, distance, movements, spreads
from t3cen.groups import ColorGroup

LEAST = 0.02
STRONG, WEAK = 0.5, 0.25
DEFAULT_ORDER = 4
PLAIN = "h1"


@dataclass(frozen=True)
class Recommendation:
    """What `recommend` found.

    Attributes:
        group: the name of the group to use, as in the paper's tables; `"h1"` is a plain network.
        reasons: why, in sentences.
        warnings: what to look out for, in sentences; never empty where colour looks like the signal.
        color_is_signal: whether it does.
        moves: how far each axis moves; `moves_between_images` says that no deployment images were given and that this is
            how far the training images differ among themselves.
        candidates: every group looked at.
        signals: how well each axis predicts the class, where labels were given.
        train, deployment: the statistics behind it all.
        light: how far light moves, where deployment images were given; None where too little is neither black nor white.
    """

    group: str
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    color_is_signal: bool
    moves: dict[str, Movement]
    moves_between_images: bool
    candidates: tuple[Candidate, ...]
    signals: dict[str, Signal] | None
    train: ColorStatistics = field(repr=False)
    deployment: ColorStatistics | None = field(repr=False)
    light: LightMove | None = None

    def as_dict(self) -> dict[str, Any]:
        """Everything but the pixels, as plain values."""
        signals = self.signals or {}
        return {
            "group": self.group,
            "reasons": list(self.reasons),
            "warnings": list(self.warnings),
            "color_is_signal": self.color_is_signal,
            "moves_between_images": self.moves_between_images,
            "moves": {axis: {**asdict(move), "share": move.share} for axis, move in self.moves.items()},
            "signals": {axis: {**asdict(signal), "strength": signal.strength} for axis, signal in signals.items()},
            "candidates": [asdict(candidate) for candidate in self.candidates],
            "train": self.train.summary(),
            "deployment": None if self.deployment is None else self.deployment.summary(),
            "undefined_hue": self.train.undefined_hue,
            "light": None if self.light is None else {**asdict(self.light), "exposure": self.light.exposure},
        }


def recommend(
    train: Iterable[Tensor],
    deployment: Iterable[Tensor] | None = None,
    *,
    labels: Sequence[int] | None = None,
    deployment_labels: Sequence[int] | None = None,
    cover: str = "triangle",
    groups: Sequence[str] = GROUPS,
    pixels: int = 1024,
) -> Recommendation:
    """Measure the colours of images and recommend a colour group.

    Args:
        train: training images `(3, H, W)`, RGB in [0, 1], of any sizes; a batch `(N, 3, H, W)` will do. A few hundred suffice.
        deployment: images from where the network will be used. Without them, how far training images differ among
            themselves stands in for the move, and the recommendation says so.
        labels, deployment_labels: classes, one per image, to find out whether colour is the signal.
        cover: double cover of saturation and luminance.
        groups: the candidates.
        pixels: drawn at random from each image.

    Raises:
        ValueError: fewer than two training images, labels that do not fit, or images that are not RGB in [0, 1].

    Source: paper, "Selecting the right order" and "Limitation of Color Equivariance".
    """
    seen = ColorStatistics(sample_pixels(train, pixels))
    if len(seen.pixels) < 2:
        raise ValueError("at least two training images are needed to tell a move from noise, got 1")
    used = None if deployment is None else ColorStatistics(sample_pixels(deployment, pixels))
    moves = spreads(seen) if used is None else movements(seen, used)
    candidates = tuple(examine(name, seen, used, moves, cover) for name in groups)
    signals = None if labels is None else color_signals(seen, labels, used, deployment_labels)
    moved = sorted((m for m in moves.values() if m.stands_out(LEAST)), key=lambda m: -m.share)
    light = None if used is None else light_move(seen.pixels, used.pixels)
    reasons, warnings = _describe(moves, used is None), []
    if light is not None and light.stands_out():
        reasons.append(f"Light moves: {light}. Try model=t3cen_light, which gains shift (docs/light.md), beside the group below.")
    if labels is not None and signals is None:
        warnings.append("There are too few images of each class, or one class only, to tell whether colour is the signal.")
    if not moved:
        reasons.append(
            f"No axis moves by {LEAST:.0%} of its range and three times the noise: equivariance would cost capacity and buy "
            "nothing (paper, 'No distribution shift')."
        )
        group = PLAIN
        told = [_is_signal(a, moves[a], signals, seen, labels, used is None, warnings) for a in AXES]
        signal = any(told)
    else:
        axis = moved[0].axis
        group = _order(axis, candidates, reasons, known=used is not None)
        signal = _is_signal(axis, moves[axis], signals, seen, labels, used is None, warnings)
        if signal:
            group = PLAIN
        else:
            _second(moved, reasons)
    if signals and moved:
        _other_signals(signals, moved[0].axis, warnings)
    return Recommendation(
        group, tuple(reasons), tuple(warnings), signal, moves, used is None, candidates, signals, seen, used, light
    )


def _describe(moves: dict[str, Movement], between_images: bool) -> list[str]:
    parts = []
    for axis, move in moves.items():
        size = f"{360 * move.distance:.0f}°" if axis == "hue" else f"{move.distance:.3f}"
        parts.append(f"{axis} {size} ({move.share:.0%} of its range)")
    if between_images:
        return ["No deployment images were given. Two training images differ on average in " + ", ".join(parts) + "."]
    return ["Between training and deployment the distributions move in " + ", ".join(parts) + "."]


def _order(axis: str, candidates: Sequence[Candidate], reasons: list[str], known: bool) -> str:
    """The order for one axis: the paper's, or one that leaves less than half as much and at least a tenth of the move less."""
    letter = axis[0]
    orders = {ColorGroup.parse(c.name).order: c for c in candidates if _only(c, axis)}
    if not orders:
        raise ValueError(f"{axis} moves most, but no candidate group acts on {axis} alone; add for example '{letter}4'")
    start = DEFAULT_ORDER if DEFAULT_ORDER in orders else min(orders)
    best = orders[start]
    if known:
        for order in sorted(orders):
            rest = orders[order].left_over
            if rest < best.left_over / 2 and rest < best.left_over - 0.1:
                best = orders[order]
        others = ", ".join(f"{c.name.upper()} {c.left_over:.0%}" for c in orders.values() if c is not best)
        reasons.append(
            f"{axis.capitalize()} moves most. {best.name.upper()} leaves {best.left_over:.0%} of the whole move between its "
            f"steps or on other axes{f' ({others})' if others else ''}."
        )
        if best.left_over > 0.5:
            reasons.append("Much is left over: train with step_jitter=true, which covers shifts between the steps.")
    else:
        reasons.append(
            f"{axis.capitalize()} differs most. Order {start} has the densest coverage for its cost (paper, 'Selecting the right "
            "order'); deployment images would tell which steps are needed."
        )
    return best.name


def _only(candidate: Candidate, axis: str) -> bool:
    orders = dict(zip(AXES, candidate.group.orders, strict=True))
    return orders[axis] > 1 and all(order == 1 for other, order in orders.items() if other != axis)


def _is_signal(
    axis: str,
    move: Movement,
    signals: dict[str, Signal] | None,
    train: ColorStatistics,
    labels: Sequence[int] | None,
    between_images: bool,
    warnings: list[str],
) -> bool:
    """Whether the axis tells the class, so that pooling over it would throw the answer away."""
    if signals is None or labels is None or signals[axis].strength < STRONG:
        return False
    signal = signals[axis]
    said = (
        f"{axis.capitalize()} alone predicts the class with {signal.accuracy:.0%} accuracy (chance {signal.chance:.0%}), "
        f"and shares {signal.information:.0%} of its information"
    )
    if signal.transferred_strength is not None and signal.transferred_strength < signal.strength / 2:
        warnings.append(
            f"{said}, but the same rule has {signal.transfer:.0%} on the deployment images: it is a shortcut, which "
            f"{axis} equivariance removes."
        )
        return False
    apart = _class_distance(axis, train, labels)
    if signal.transferred_strength is None and not between_images and move.distance >= apart:
        warnings.append(
            f"{said}, but deployment moves {axis} by {move.distance:.3f}, farther than the classes lie apart ({apart:.3f}): the "
            "rule cannot be trusted there. Label some deployment images to be sure."
        )
        return False
    warnings.append(
        f"Colour looks like the signal. {said}. A network equivariant to {axis} pools over it and would lose this (paper, 'Color "
        "as the signal'): keep a plain network, with colour jitter if the cameras differ."
    )
    return True


def _class_distance(axis: str, train: ColorStatistics, labels: Sequence[int]) -> float:
    """Mean earth mover's distance between the distributions of two classes."""
    at = AXES.index(axis)
    classes = sorted(set(labels))
    member = {c: [i for i, label in enumerate(labels) if label == c] for c in classes}
    histograms = {c: train.histograms[member[c], at].sum(0) for c in classes}
    pairs = [(a, b) for i, a in enumerate(classes) for b in classes[i + 1 :]]
    return sum(distance(axis, histograms[a], histograms[b]) for a, b in pairs) / len(pairs)


def _second(moved: Sequence[Movement], reasons: list[str]) -> None:
    if len(moved) > 1 and moved[1].share >= moved[0].share / 2:
        letters = "".join(sorted((m.axis[0] for m in moved[:2]), key="hsl".index))
        both = "".join(f"{letter}{DEFAULT_ORDER}" for letter in letters).upper()
        reasons.append(
            f"{moved[1].axis.capitalize()} moves too ({moved[1].share:.0%} of its range): {both} is worth a second run, although "
            "in the paper's Camelyon17 table one axis did better than two."
        )


def _other_signals(signals: dict[str, Signal], chosen: str, warnings: list[str]) -> None:
    for axis, signal in signals.items():
        said = f"{axis.capitalize()} alone predicts the class with {signal.accuracy:.0%} accuracy (chance {signal.chance:.0%})"
        if axis == chosen:
            if WEAK <= signal.strength < STRONG:
                warnings.append(f"{said}, which an equivariant network pools away: compare with a plain network.")
        elif signal.strength >= STRONG:
            holds = signal.transferred_strength is None or signal.transferred_strength >= signal.strength / 2
            where = "" if holds else f", but {signal.transfer:.0%} on the deployment images, so it is no rule to keep"
            warnings.append(f"{said}{where}{f': leave {axis} out of the group' if holds else ''}.")
