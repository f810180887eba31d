"""The 3D Shapes scene, drawn: a look-alike of the published data set fitted to its public frames.

The room, camera, objects and lamp were measured from the frames that the data set's authors show publicly; the fit reproduces
their map of sky, floor, walls and object in 98 % of the pixels and their colours within about 6 of 255. Only geometry and
light are cast (480 scenes); colours follow by multiplication, pixel = min(albedo * intensity, 1).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from t3cen.color import hsv_to_rgb
from t3cen.data.raycast import Array, Solid, box, camera_rays, capsule, cylinder, dot, ellipsoid, nearest, unit

FACTORS = (10, 10, 10, 8, 4, 15)
"""Values of floor hue, wall hue, object hue, scale, shape, orientation: images are numbered in C order of this grid."""
SHAPES = ("cube", "cylinder", "sphere", "capsule")
SCALES = np.linspace(0.75, 1.25, 8)
ORIENTATIONS = np.linspace(-30, 30, 15)
SCENES = 8 * 4 * 15
FLOOR, WALL, OBJECT, SKY = range(4)
SKY_COLOR = (153, 226, 249)

ROOM, WALL_HEIGHT = 3.5, 2.04
CAMERA_DISTANCE, CAMERA_HEIGHT, HALF_VIEW = 2.49, 0.749, 0.4694
LAMP, LAMP_TARGET = np.array([-2.0, 0.6, 9.8]), np.array([-1.19, 0.87, 0.0])
AMBIENT, HEAD_LIGHT, LAMP_LIGHT, SHADOW = 0.336, 0.625, 1.05, 0.33


class Scenes(NamedTuple):
    """All 480 scenes in the order scale, shape, orientation (last fastest).

    Attributes:
        light: float16 (480, 3, H, W): intensity of floor, wall and object in a pixel, times the share they have of it.
        share: uint8 (480, 4, H, W): share of the pixel, in 255ths, of floor, wall, object and sky.
    """

    light: Array
    share: Array


def shape_at(scale: float, shape: int) -> Solid:
    """The object, standing on the floor in the middle of the room."""
    s = float(scale)
    if shape == 0:
        return Solid(box([0.355 * s] * 3), (0, 0, 0.355 * s))
    if shape == 1:
        return Solid(cylinder(0.393 * s, 0.740 * s), (0, 0, 0.370 * s))
    if shape == 2:
        return Solid(ellipsoid([0.428 * s] * 3), (0, 0, 0.428 * s))
    return Solid(capsule(0.328 * s, 0.663 * s), (0, 0, (0.328 + 0.3315) * s))


def intensity(point: Array, normal: Array, eye: Array) -> Array:
    """Ambient light, a light at the camera and a narrow lamp above; grey, may exceed 1."""
    to_eye, to_lamp = unit(eye - point), unit(LAMP - point)
    cone = np.clip(to_lamp @ unit(LAMP - LAMP_TARGET), 0, None)
    cone = (cone**8) ** 5
    head, lamp = np.clip(dot(normal, to_eye), 0, None), np.clip(dot(normal, to_lamp), 0, None)
    return AMBIENT + HEAD_LIGHT * head + LAMP_LIGHT * lamp * cone


def cast_room(eye: Array, rays: Array) -> tuple[Array, Array, Array]:
    """Class, intensity and point of the empty room for each ray."""
    with np.errstate(divide="ignore", invalid="ignore"):
        floor = np.where(rays[:, 2] < 0, -eye[2] / rays[:, 2], np.inf)
        walls = np.stack([(np.copysign(ROOM, rays[:, i]) - eye[i]) / rays[:, i] for i in (0, 1)])
    side = walls.argmin(0)
    wall = walls.min(0)
    distance = np.minimum(floor, wall)
    point = eye + distance[:, None] * rays
    kind = np.where(floor < wall, FLOOR, np.where(point[:, 2] <= WALL_HEIGHT, WALL, SKY))
    normal = np.zeros_like(rays)
    rows = np.arange(len(rays))
    normal[rows, side] = -np.sign(rays[rows, side])
    normal[kind == FLOOR] = (0, 0, 1)
    return kind, intensity(point, normal, eye), point


def cast(scale: float, shape: int, eye: Array, rays: Array, room: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """Class and intensity for each ray, with the object and its shadow on the floor."""
    kind, light, point = (part.copy() for part in room)
    solid = shape_at(scale, shape)
    floor = np.flatnonzero(kind == FLOOR)
    blocked = np.isfinite(nearest([solid], point[floor], unit(LAMP - point[floor]))[0])
    light[floor[blocked]] = SHADOW
    distance, normal, _ = nearest([solid], eye, rays)
    # the room is convex and the object stands inside it, so whatever meets the object meets it first
    seen = np.isfinite(distance)
    kind[seen] = OBJECT
    light[seen] = intensity(eye + distance[seen, None] * rays[seen], normal[seen], eye)
    return kind, light


def _pool(values: Array, size: int, samples: int) -> Array:
    """Mean over the rays of each pixel: (size * samples)^2 values to (size, size)."""
    square = values.reshape(size * samples, size * samples)
    rays = [square[i::samples, j::samples] for i in range(samples) for j in range(samples)]
    return np.add.reduce(rays) / samples**2


@lru_cache(maxsize=2)
def scenes(size: int = 64) -> Scenes:
    """All scenes at `size` x `size` pixels, cast once per process (2-3 s of one core at any size up to 64)."""
    samples = max(2, 128 // size)
    light = np.empty((8, 4, 15, 3, size, size), np.float16)
    share = np.empty((8, 4, 15, 4, size, size), np.uint8)
    for o, degrees in enumerate(np.radians(ORIENTATIONS)):
        eye = np.array([CAMERA_DISTANCE * np.sin(degrees), -CAMERA_DISTANCE * np.cos(degrees), CAMERA_HEIGHT])
        rays = camera_rays(eye, (0, 0, CAMERA_HEIGHT), HALF_VIEW, size * samples)
        room = cast_room(eye, rays)
        for c, scale in enumerate(SCALES):
            for s in range(4):
                kind, bright = cast(scale, s, eye, rays, room)
                for k in range(4):
                    mine = kind == k
                    share[c, s, o, k] = np.round(255 * _pool(mine.astype(np.float32), size, samples))
                    if k != SKY:
                        light[c, s, o, k] = _pool(np.where(mine, bright, 0), size, samples)
    return Scenes(light.reshape(SCENES, 3, size, size), share.reshape(SCENES, 4, size, size))


def palette() -> Array:
    """The ten colours of floor, walls and object: hue k/10, full saturation and value; float32 (10, 3)."""
    hues = torch.arange(10) / 10
    return hsv_to_rgb(torch.stack([hues, torch.ones(10), torch.ones(10)])[:, :, None])[:, :, 0].T.numpy()


def factors(index: int) -> tuple[int, ...]:
    """The six factor numbers of image `index`."""
    return tuple(int(f) for f in np.unravel_index(index, FACTORS))


class RenderedShapes:
    """All 480,000 images, drawn when asked for.

    Args:
        size: height and width in pixels; the published images have 64.
    """

    def __init__(self, size: int = 64) -> None:
        self.size = size
        self.scenes = scenes(size)
        self.palette = palette()
        self.sky = np.array(SKY_COLOR, np.float32).reshape(3, 1, 1) / 255

    def __len__(self) -> int:
        return int(np.prod(FACTORS))

    def picture(self, index: int) -> Tensor:
        """uint8 (3, size, size)."""
        hues, scene = divmod(index, SCENES)
        colors = self.palette[[hues // 100, hues // 10 % 10, hues % 10]][:, :, None, None]
        light = self.scenes.light[scene].astype(np.float32)
        share = self.scenes.share[scene] / np.float32(255)
        # where a pixel lies in one part this is min(albedo * intensity, 1); on an edge each part is cut off by its share
        floor, wall, item = np.minimum(colors * light[:, None], share[:3, None])
        image = floor + wall + item + share[SKY] * self.sky
        return torch.from_numpy(np.minimum(image * 255 + 0.5, 255).astype(np.uint8))

    def parts(self, index: int) -> Tensor:
        """Which part fills most of each pixel: floor 0, wall 1, object 2, sky 3; int64 (size, size)."""
        return torch.from_numpy(self.scenes.share[index % SCENES].argmax(0))

    def label(self, index: int) -> int:
        """0 cube, 1 cylinder, 2 sphere, 3 capsule."""
        return index // 15 % 4
