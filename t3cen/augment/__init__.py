"""Training augmentations: `(uint8 image (3, H, W), generator) -> float32 image(s) in [0, 1]`, random by the generator alone."""

from t3cen.augment.augmix import AugMix
from t3cen.augment.deepaugment import DeepAugment
from t3cen.augment.jitter import ColorJitter
from t3cen.augment.planckian import PlanckianJitter
from t3cen.augment.shift import ColorShift

__all__ = ["AugMix", "ColorJitter", "ColorShift", "DeepAugment", "PlanckianJitter"]
