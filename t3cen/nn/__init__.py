"""Layers: liftings to the group, group convolution, normalisation and pooling."""

from t3cen.nn.activation import GroupActivation
from t3cen.nn.band_limit import BandLimit, Interpolate, Project, shift
from t3cen.nn.band_limited_lifting import BandLimitedLifting, band_limited
from t3cen.nn.ce_conv import CEConv2d, CELiftingConv2d
from t3cen.nn.group_conv import GroupConv2d
from t3cen.nn.hsl_lifting import HSLLifting
from t3cen.nn.lcer_conv import LCERConv2d
from t3cen.nn.lcer_lifting import LCERLifting
from t3cen.nn.max_pool import GroupMaxPool2d
from t3cen.nn.norm import GroupBatchNorm2d
from t3cen.nn.plain_lifting import GrayLifting, IdentityLifting
from t3cen.nn.planar import Planar
from t3cen.nn.pool import GroupPool
from t3cen.nn.rgb_lifting import RGBLifting
from t3cen.nn.scale_lifting import ScaleLifting

__all__ = [
    "BandLimit",
    "BandLimitedLifting",
    "CEConv2d",
    "CELiftingConv2d",
    "GrayLifting",
    "GroupActivation",
    "GroupBatchNorm2d",
    "GroupConv2d",
    "GroupMaxPool2d",
    "GroupPool",
    "HSLLifting",
    "IdentityLifting",
    "Interpolate",
    "LCERConv2d",
    "LCERLifting",
    "Planar",
    "Project",
    "RGBLifting",
    "ScaleLifting",
    "band_limited",
    "shift",
]
