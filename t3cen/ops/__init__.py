"""Operations on functions on a group, `(B, G, C, H, W)`: what layers are made of.

Each is an operator of PyTorch's (`operator.py`) with a kernel in plain operations, which is its readable reference and runs on
every device, and perhaps a compiled one for the CPU (`cpu/`, which nobody else imports; `kernels.py` switches it off).
"""

from t3cen.ops.axes import along_axes, uncast
from t3cen.ops.direct import direct_group_conv2d, in_precision_of
from t3cen.ops.fourier import fourier_group_conv2d, transform_filters
from t3cen.ops.geometry import ConvGeometry
from t3cen.ops.group_conv import BACKENDS, choose_backend, precision
from t3cen.ops.norm import batch_norm_act
from t3cen.ops.operator import DECOMPOSITIONS
from t3cen.ops.relu import band_limited_relu
from t3cen.ops.unit_range import unit_range

import t3cen.ops.cpu  # isort: skip
import t3cen.ops.gpu  # isort: skip  # noqa: F401  so does it

__all__ = [
    "BACKENDS",
    "DECOMPOSITIONS",
    "ConvGeometry",
    "along_axes",
    "band_limited_relu",
    "batch_norm_act",
    "choose_backend",
    "direct_group_conv2d",
    "fourier_group_conv2d",
    "in_precision_of",
    "precision",
    "transform_filters",
    "uncast",
    "unit_range",
]
