"""Networks: one construction, the way colour enters is an argument."""

from t3cen.models.registry import build, names
from t3cen.models.resnet import ResNet
from t3cen.models.z2cnn import Z2CNN

__all__ = ["Z2CNN", "ResNet", "build", "names"]
