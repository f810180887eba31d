"""Convolutional networks equivariant to hue, saturation and luminance."""

__version__ = "0.1.0"
