"""Layers: liftings to the group, group convolution, normalisation and pooling."""

from t3cen.nn.band_limited.activation import GroupActivation
from t3cen.nn.band_limited.lifting import BandLimitedLifting, band_limited
from t3cen.nn.band_limited.limit import BandLimit, Interpolate, Project, shift
from t3cen.nn.band_limited.max_pool import GroupMaxPool2d
from t3cen.nn.baselines.ce_conv import CEConv2d, CELiftingConv2d
from t3cen.nn.baselines.lcer_conv import LCERConv2d
from t3cen.nn.conv import GroupConv2d
from t3cen.nn.liftings.hsl import HSLLifting
from t3cen.nn.liftings.lcer import LCERLifting
from t3cen.nn.liftings.light import LightLifting
from t3cen.nn.liftings.plain import GrayLifting, IdentityLifting
from t3cen.nn.liftings.rgb import RGBLifting
from t3cen.nn.liftings.scale import ScaleLifting
from t3cen.nn.liftings.white_balance import GrayWorldLifting, WhitePatchLifting
from t3cen.nn.norm import GroupBatchNorm2d, GroupBatchNormAct2d
from t3cen.nn.planar import Planar
from t3cen.nn.pool import GroupPool

__all__ = [
    "BandLimit",
    "BandLimitedLifting",
    "CEConv2d",
    "CELiftingConv2d",
    "GrayLifting",
    "GrayWorldLifting",
    "GroupActivation",
    "GroupBatchNorm2d",
    "GroupBatchNormAct2d",
    "GroupConv2d",
    "GroupMaxPool2d",
    "GroupPool",
    "HSLLifting",
    "IdentityLifting",
    "Interpolate",
    "LCERConv2d",
    "LCERLifting",
    "LightLifting",
    "Planar",
    "Project",
    "RGBLifting",
    "ScaleLifting",
    "WhitePatchLifting",
    "band_limited",
    "shift",
]
