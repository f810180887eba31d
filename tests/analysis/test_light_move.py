"""A gain is found in stops and told from other moves."""

import pytest
import torch

from t3cen.analysis import recommend
from t3cen.analysis.light_move import light_move
from t3cen.data.light_shifts import relight


def pixels(seed=0, count=300, low=0.25, high=0.75):
    rng = torch.Generator().manual_seed(seed)
    own = low + (high - low) * torch.rand(count, 3, 1, 1, generator=rng)
    return (own + 0.1 * torch.randn(count, 3, 1, 200, generator=rng)).clamp(0.05, 0.98)


def test_gains_are_found_in_stops():
    move = light_move(pixels(), relight(pixels(1), 2.0 ** torch.tensor([-1.0, -0.5, -1.5])[:, None, None]))
    assert move.gains == pytest.approx((-1, -0.5, -1.5), abs=0.2)
    assert move.exposure == pytest.approx(-1, abs=0.15)
    assert move.distance == pytest.approx(1, abs=0.15)
    assert move.explained > 0.8
    assert move.stands_out()
    assert str(move).startswith("-1.")


def test_no_move_and_a_move_that_is_no_gain_do_not_stand_out():
    assert not light_move(pixels(), pixels(1)).stands_out()
    flatter = light_move(pixels(), 0.5 + (pixels(1) - 0.5) / 4)
    assert flatter.distance > 0.25
    assert not flatter.stands_out()


def test_black_and_white_are_left_out_and_too_little_else_is_none():
    half = pixels()
    half[:100] = 0
    half[100:150] = 1
    assert light_move(half, pixels(1)).distance < 0.2
    assert light_move(torch.zeros_like(half), pixels()) is None
    assert light_move(pixels(), torch.ones_like(half)) is None


def test_recommend_says_that_light_moves():
    train = pixels(count=30).reshape(30, 3, 10, 20)
    other = pixels(1, count=30).reshape(30, 3, 10, 20)
    found = recommend(train, relight(other, 0.3), groups=("l4", "s4", "h4"), pixels=128)
    assert "model=t3cen_light" in found.reasons[1]
    assert found.as_dict()["light"]["exposure"] == pytest.approx(-1.74, abs=0.3)
    assert found.light.stands_out()
    still = recommend(train, other, groups=("l4", "s4", "h4"), pixels=128)
    assert not any("t3cen_light" in reason for reason in still.reasons)
    assert recommend(train, groups=("l4", "s4", "h4"), pixels=128).light is None
