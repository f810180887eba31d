"""Layers: liftings to the group, group convolution, normalisation and pooling."""

from t3cen.nn.ce_conv import CEConv2d, CELiftingConv2d
from t3cen.nn.group_conv import GroupConv2d
from t3cen.nn.hsl_lifting import HSLLifting
from t3cen.nn.lcer_conv import LCERConv2d
from t3cen.nn.lcer_lifting import LCERLifting
from t3cen.nn.norm import GroupBatchNorm2d
from t3cen.nn.plain_lifting import GrayLifting, IdentityLifting
from t3cen.nn.planar import Planar
from t3cen.nn.pool import GroupPool
from t3cen.nn.rgb_lifting import RGBLifting
from t3cen.nn.scale_lifting import ScaleLifting

__all__ = [
    "CEConv2d",
    "CELiftingConv2d",
    "GrayLifting",
    "GroupBatchNorm2d",
    "GroupConv2d",
    "GroupPool",
    "HSLLifting",
    "IdentityLifting",
    "LCERConv2d",
    "LCERLifting",
    "Planar",
    "RGBLifting",
    "ScaleLifting",
]
