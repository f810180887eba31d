"""Rays against solids whose hits are known by hand."""

import numpy as np
import pytest

from t3cen.data.raycast import Solid, box, camera_rays, capsule, cylinder, ellipsoid, nearest, rotation

DOWN = np.array([[0.0, 0.0, -1.0]])
ALONG = np.array([[1.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("shape", "top", "side"),
    [
        (box([1, 2, 3]), 3.0, 1.0),
        (ellipsoid([1, 2, 3]), 3.0, 1.0),
        (cylinder(1.5, 4), 2.0, 1.5),
        (capsule(0.5, 2), 1.5, 0.5),
    ],
)
def test_hits_from_above_and_from_the_side(shape, top, side):
    distance, normal = shape(np.array([0.0, 0.0, 10.0]), DOWN)
    assert distance[0] == pytest.approx(10 - top)
    np.testing.assert_allclose(normal[0], [0, 0, 1], atol=1e-9)
    distance, normal = shape(np.array([-10.0, 0.0, 0.0]), ALONG)
    assert distance[0] == pytest.approx(10 - side)
    np.testing.assert_allclose(normal[0], [-1, 0, 0], atol=1e-9)


@pytest.mark.parametrize("shape", [box([1, 1, 1]), ellipsoid([1, 1, 1]), cylinder(1, 2), capsule(1, 1)])
def test_misses_are_infinite_and_normals_are_unit(shape):
    directions = np.random.default_rng(0).normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    origin = np.array([4.0, 0.5, 0.2])
    distance, normal = shape(origin, directions)
    hit = np.isfinite(distance)
    assert 0 < hit.sum() < 100
    assert np.all((directions @ origin)[hit] < 0)
    np.testing.assert_allclose(np.linalg.norm(normal[hit], axis=1), 1, atol=1e-9)
    assert np.all((normal * directions).sum(1)[hit] <= 1e-9)


def test_turned_and_moved_solids_and_the_nearest():
    turned = Solid(box([1, 0.1, 0.1]), (0, 0, 0), rotation(2, 90))
    distance, _ = turned.intersect(np.array([0.0, -5.0, 0.0]), np.array([[0.0, 1.0, 0.0]]))
    assert distance[0] == pytest.approx(4.0)
    front = Solid(ellipsoid([0.5, 0.5, 0.5]), (0, -3, 0))
    distance, normal, which = nearest([turned, front], np.array([0.0, -5.0, 0.0]), np.array([[0.0, 1.0, 0.0]]))
    assert (distance[0], which[0]) == (pytest.approx(1.5), 1)
    np.testing.assert_allclose(normal[0], [0, -1, 0], atol=1e-9)


def test_camera_looks_at_its_target_with_up_on_top():
    rays = camera_rays((0, -5, 0), (0, 0, 0), 0.5, 3).reshape(3, 3, 3)
    np.testing.assert_allclose(rays[1, 1], [0, 1, 0], atol=1e-12)
    assert rays[0, 1, 2] > 0 > rays[2, 1, 2]
    assert rays[1, 0, 0] < 0 < rays[1, 2, 0]
