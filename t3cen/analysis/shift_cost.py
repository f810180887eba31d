"""What a shift of colour costs a network, any network: `shift_report`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import torch
from torch import Tensor, nn

from t3cen.analysis.color_statistics import AXES
from t3cen.data.shifts import shift

AMOUNTS: dict[str, tuple[float, ...]] = {
    "hue": tuple(k / 24 for k in range(-12, 13)),
    "saturation": tuple(k / 10 for k in range(-10, 11)),
    "luminance": tuple(k / 20 for k in range(-10, 11)),
}
"""By axis, how far images are shifted: hue in turns all around, saturation and luminance in parts of their range."""


@dataclass(frozen=True)
class ShiftReport:
    """What `shift_report` found.

    Attributes:
        measure: `"accuracy"`, or `"agreement"` with the answers on the images as they are.
        unshifted: the measure on the images as they are, in [0, 1].
        scores: by axis, the amounts of the shift and the measure at each.
        images: how many were looked at.
        commonest: share of the commonest class, what always answering it would score; None without labels.
        mode: of `t3cen.data.shifts`, what happens at the ends of saturation and luminance.
        example: one of the images, `(3, H, W)`.
    """

    measure: str
    unshifted: float
    scores: Mapping[str, Sequence[tuple[float, float]]]
    images: int
    commonest: float | None
    mode: str
    example: Tensor = field(repr=False, compare=False)

    def mean(self, axis: str) -> float:
        """The mean measure over all amounts but 0."""
        shifted = [score for amount, score in self.scores[axis] if amount]
        return sum(shifted) / len(shifted)

    def worst(self, axis: str) -> tuple[float, float]:
        """The amount with the lowest measure, and that measure; of equals, the smallest shift."""
        return min(self.scores[axis], key=lambda point: (point[1], abs(point[0])))

    def as_dict(self) -> dict[str, Any]:
        """Everything but the image, as plain values."""
        return {
            "measure": self.measure,
            "unshifted": self.unshifted,
            "images": self.images,
            "commonest": self.commonest,
            "mode": self.mode,
            "scores": {axis: [list(point) for point in points] for axis, points in self.scores.items()},
        }


@torch.no_grad()
def shift_report(
    model: Callable[[Tensor], Tensor],
    images: Iterable[Tensor],
    labels: Sequence[int] | Tensor | None = None,
    *,
    amounts: Mapping[str, Sequence[float]] = AMOUNTS,
    mode: str = "clip",
    batch: int = 64,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> ShiftReport:
    """Shift the hue, saturation and luminance of images, each by itself, and count the right or the unchanged answers.

    Args:
        model: any network from RGB in [0, 1], `(B, 3, H, W)`, to logits `(B, classes)`. One that expects normalised images
            must be given with its normalisation in front. Modules are measured in evaluation mode and put back.
        images: `(3, H, W)` each and of one size, RGB in [0, 1]; a batch `(N, 3, H, W)` will do.
        labels: a whole number for each image: then accuracy is measured. Without them, agreement: the share of images that get
            the answer they get unshifted.
        amounts: by axis, the shifts to try: hue in turns, saturation and luminance in [-1, 1].
        mode: at the ends of saturation and luminance, `clip`, `fold` or `scale`, see `t3cen.data.shifts`.
        batch: images at a time.
        progress: wraps the batches, to show how far it is.

    Raises:
        ValueError: no images, images of several sizes, labels that do not fit, an unknown axis, or no logits.
    """
    if unknown := set(amounts) - set(AXES):
        raise ValueError(f"axes are {', '.join(AXES)}, got {', '.join(sorted(unknown))}")
    truth = None if labels is None else torch.as_tensor(labels)
    right: dict[tuple[str, float], int] = {(axis, float(a)): 0 for axis, values in amounts.items() for a in values}
    seen, unshifted, example = 0, 0, None
    with _evaluating(model) as device:
        for part in progress(_batches(images, batch)):
            here = part.to(device)
            answers = _answers(model, here)
            wanted = answers if truth is None else truth[seen : seen + len(part)].to(device)
            if len(wanted) != len(part):
                raise ValueError(f"{len(truth) if truth is not None else 0} labels were given for more images")
            unshifted += int((answers == wanted).sum())
            for axis, amount in right:
                moved = answers if amount == 0 else _answers(model, shift(here, **{axis: amount}, mode=mode))
                right[axis, amount] += int((moved == wanted).sum())
            example = part[0] if example is None else example
            seen += len(part)
    if example is None:
        raise ValueError("no images were given; at least one is needed")
    if truth is not None and len(truth) != seen:
        raise ValueError(f"{len(truth)} labels were given for {seen} images")
    return ShiftReport(
        measure="agreement" if truth is None else "accuracy",
        unshifted=unshifted / seen,
        scores={axis: [(a, right[axis, a] / seen) for a in map(float, values)] for axis, values in amounts.items()},
        images=seen,
        commonest=None if truth is None else int(truth.bincount().max()) / seen,
        mode=mode,
        example=example,
    )


def _batches(images: Iterable[Tensor], size: int) -> Iterable[Tensor]:
    left = iter(images)
    for first in left:
        group = list(chain([first], islice(left, size - 1)))
        if any(image.shape != group[0].shape for image in group):
            raise ValueError("images are of several sizes; resize them to the one that the network was trained on")
        yield torch.stack(group)


def _answers(model: Callable[[Tensor], Tensor], images: Tensor) -> Tensor:
    logits = model(images)
    if not isinstance(logits, Tensor) or logits.ndim != 2 or len(logits) != len(images):
        found = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise ValueError(f"the network must return logits ({len(images)}, classes) for {len(images)} images, got {found}")
    return logits.argmax(1)


@contextmanager
def _evaluating(model: Callable[[Tensor], Tensor]) -> Any:
    """The device of a model, which is in evaluation mode meanwhile."""
    if not isinstance(model, nn.Module):
        yield torch.device("cpu")
        return
    training = {module for module in model.modules() if module.training}
    model.eval()
    try:
        yield next((tensor.device for tensor in chain(model.parameters(), model.buffers())), torch.device("cpu"))
    finally:
        for module in training:
            module.training = True
