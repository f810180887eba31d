"""Any convolutional network made colour-equivariant, without a change of its `forward`.

Inside a converted network a function on the group, `(B, G, C, H, W)`, is a batch of images, `(B G, C, H, W)`. Whatever treats
the images of a batch alike (activations, pooling over the plane, squeeze-and-excitation, flattening, concatenation of channels)
is equivariant as it stands. So is batch norm, whose statistics are then those of the whole group. Convolutions and linear layers
become group convolutions.
"""

from t3cen.conversion.network import Converted
from t3cen.conversion.twin import convert

__all__ = ["Converted", "convert"]
