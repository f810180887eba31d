"""Colour spaces as pure functions on `(..., 3, H, W)` tensors: RGB in [0, 1], hue in turns."""

from t3cen.color.hsl import hsl_to_rgb, rgb_to_hsl
from t3cen.color.hsv import hsv_to_rgb, rgb_to_hsv
from t3cen.color.spaces import get_color_space

__all__ = ["get_color_space", "hsl_to_rgb", "hsv_to_rgb", "rgb_to_hsl", "rgb_to_hsv"]
