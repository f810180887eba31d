"""Training augmentations: `(uint8 image (3, H, W), generator) -> float32 image(s) in [0, 1]`, random by the generator alone.

Each is one class in a file of this folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from t3cen.registry import Registry

if TYPE_CHECKING:
    from t3cen.data.items import Augmentation

AUGMENTATIONS: Registry[type[Augmentation]] = Registry("t3cen.augment")
"""Every augmentation, by the name of its class."""


def __getattr__(name: str) -> Any:
    return AUGMENTATIONS.exported(name)


def __dir__() -> list[str]:
    return sorted(["AUGMENTATIONS", *AUGMENTATIONS])
