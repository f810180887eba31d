"""The double covers: paper's maps, inverse on the principal branch, two sheets, finite gradients."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from t3cen.covers import COVERS, get_cover
from t3cen.turns import circle_distance, wrap

TOLERANCE = {torch.float32: 2e-6, torch.float64: 1e-14}
names = pytest.mark.parametrize("name", list(COVERS))
dtypes = pytest.mark.parametrize("dtype", list(TOLERANCE))


def test_the_first_three_covers_are_those_of_the_paper():
    assert list(COVERS)[:3] == ["triangle", "sine", "half_sine"]
    angle = torch.linspace(-2, 2, 401, dtype=torch.float64)
    theta = 2 * math.pi * angle
    torch.testing.assert_close(get_cover("sine").project(angle), 0.5 + 0.5 * torch.sin(theta))
    torch.testing.assert_close(get_cover("half_sine").project(angle), torch.sin(torch.remainder(theta, 2 * math.pi) / 2))
    up_and_down = torch.tensor([0.0, 0.2, 0.5, 1.0, 0.5, 0.2], dtype=torch.float64)
    at = torch.tensor([0.0, 0.1, 0.25, 0.5, 0.75, 0.9], dtype=torch.float64)
    torch.testing.assert_close(get_cover("triangle").project(at), up_and_down)


@pytest.mark.parametrize(
    ("value", "lifted"), [(0.3, [0.3, 0.8, 0.7, 0.2]), (0.8, [0.8, 0.7, 0.2, 0.3]), (0.7, [0.7, 0.8, 0.3, 0.2])]
)
def test_triangle_orbit_of_order_four_and_its_sheets(value, lifted):
    cover = get_cover("triangle")
    orbit = cover.project(cover.lift(torch.tensor(value, dtype=torch.float64)) + torch.arange(4, dtype=torch.float64) / 4)
    torch.testing.assert_close(orbit, torch.tensor(lifted, dtype=torch.float64))


def test_one_triangle_step_of_order_four_is_a_shift_by_half():
    cover = get_cover("triangle")
    value = torch.linspace(0, 0.5, 11, dtype=torch.float64)
    torch.testing.assert_close(cover.project(cover.lift(value) + 1 / 4), value + 0.5)


@names
@dtypes
def test_lift_then_project_is_the_identity(name, dtype):
    cover = get_cover(name)
    value = torch.linspace(0, 1, 10001, dtype=dtype)
    torch.testing.assert_close(cover.project(cover.lift(value)), value, atol=TOLERANCE[dtype], rtol=0)


@names
@dtypes
def test_lift_lands_on_the_principal_branch_and_rises_along_it(name, dtype):
    cover = get_cover(name)
    angle = cover.lift(torch.linspace(0, 1, 1001, dtype=dtype))
    first, last = cover.branch
    assert last - first == 0.5
    torch.testing.assert_close(angle[[0, -1]], torch.tensor([first, last], dtype=dtype), atol=TOLERANCE[dtype], rtol=0)
    assert (angle.diff() > 0).all()


@names
@given(turn=st.floats(0, 1, exclude_max=True), whole=st.integers(-3, 3))
def test_projection_has_period_one_and_two_sheets(name, turn, whole):
    cover = get_cover(name)
    angle = torch.tensor(turn, dtype=torch.float64)
    value = cover.project(angle)
    assert 0 <= value <= 1
    torch.testing.assert_close(cover.project(angle + whole), value, atol=1e-13, rtol=0)
    mirrored = 2 * cover.branch[0] - angle  # the two sheets meet at the ends of the branch
    torch.testing.assert_close(cover.project(mirrored), value, atol=1e-13, rtol=0)


@names
@dtypes
def test_values_a_rounding_error_outside_are_the_ends(name, dtype):
    cover = get_cover(name)
    outside = torch.tensor([-1e-6, 1 + 1e-6], dtype=dtype)
    torch.testing.assert_close(cover.lift(outside), cover.lift(torch.tensor([0.0, 1.0], dtype=dtype)))


@names
@dtypes
def test_gradients_are_finite_everywhere(name, dtype):
    cover = get_cover(name)
    tiny = torch.finfo(dtype).tiny
    eps = torch.finfo(dtype).eps
    ends = [0, tiny, eps, 2 * eps, 0.5, 1 - 2 * eps, 1 - eps, 1 - eps / 2, 1, -eps, 1 + eps, -1e-6, 1 + 1e-6]
    value = torch.tensor(ends, dtype=dtype, requires_grad=True)
    (gradient,) = torch.autograd.grad(cover.lift(value).sum(), value)
    assert gradient.isfinite().all()
    angle = torch.linspace(-1, 1, 81, dtype=dtype, requires_grad=True)
    (gradient,) = torch.autograd.grad(cover.project(angle).sum(), angle)
    assert gradient.isfinite().all()


@names
def test_gradients_are_right_inside(name):
    cover = get_cover(name)
    value = (0.02 + 0.96 * torch.rand(20, dtype=torch.float64, generator=torch.Generator().manual_seed(0))).requires_grad_()
    assert torch.autograd.gradcheck(cover.lift, value)
    angle = (torch.arange(20, dtype=torch.float64) / 20 + 0.013).requires_grad_()
    assert torch.autograd.gradcheck(cover.project, angle)


def test_an_unknown_cover_lists_the_known_ones():
    with pytest.raises(ValueError, match="unknown cover 'cosine'; choose from triangle, sine, half_sine"):
        get_cover("cosine")


@dtypes
def test_wrapping_stays_strictly_below_one(dtype):
    angle = torch.tensor([-1e-30, -1e-9, 0.0, 1.0, 2.75, -0.25, 1 - torch.finfo(dtype).eps / 2], dtype=dtype)
    wrapped = wrap(angle)
    assert ((wrapped >= 0) & (wrapped < 1)).all()
    torch.testing.assert_close(wrapped[3:6], torch.tensor([0, 0.75, 0.75], dtype=dtype))
    assert wrapped[0] == 0


def test_circle_distance_goes_the_short_way():
    a, b = torch.tensor([0.1, 0.95, 0.0]), torch.tensor([0.95, 0.1, 0.5])
    torch.testing.assert_close(circle_distance(a, b), torch.tensor([0.15, 0.15, 0.5]))
